# The stack of one cluster, from what `evenkeel install --render DIR --bucket BUCKET` wrote and uploaded:
#
#   module "evenkeel" {
#     source       = "git::https://github.com/OWNER/NAME//deploy/terraform?ref=0.2.0"
#     name         = "evenkeel-prod"
#     rendered     = "${path.root}/evenkeel-prod"
#     template_url = "https://s3.REGION.amazonaws.com/BUCKET/evenkeel-prod/template-DIGEST.json"
#   }

terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "name" {
  description = "The stack. It begins with evenkeel-, as the policies in docs/install.md expect."
  type        = string
  validation {
    condition     = startswith(var.name, "evenkeel-")
    error_message = "The stack's name begins with evenkeel-."
  }
}

variable "rendered" {
  description = "The folder that was rendered."
  type        = string
}

variable "template_url" {
  description = "Where the template was uploaded: the README.md of the folder names it."
  type        = string
}

variable "parameters" {
  description = "Parameters of the stack that count before the rendered ones: docs/reference/parameters.md."
  type        = map(string)
  default     = {}
}

variable "role_arn" {
  description = "The role that CloudFormation assumes; null: the caller's rights."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the stack, and of its resources that can bear tags."
  type        = map(string)
  default     = {}
}

resource "aws_cloudformation_stack" "this" {
  name         = var.name
  template_url = var.template_url
  parameters   = merge(jsondecode(file("${var.rendered}/stack/parameters.tfvars.json")), var.parameters)
  # Terraform makes no change set: it has to allow SAM's transform, too.
  capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
  iam_role_arn = var.role_arn
  tags         = var.tags
}

output "outputs" {
  description = "The outputs of the stack, such as PlacementUrl and the roles' ARNs."
  value       = aws_cloudformation_stack.this.outputs
}
