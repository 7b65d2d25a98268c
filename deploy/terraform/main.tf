# A sample: the stack of one cluster, from what `evenkeel install --render evenkeel-prod --bucket BUCKET` wrote here and
# uploaded.

terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

resource "aws_cloudformation_stack" "evenkeel" {
  name         = "evenkeel-prod"
  template_url = "https://s3.REGION.amazonaws.com/BUCKET/evenkeel-prod/template-DIGEST.json"
  parameters   = jsondecode(file("${path.module}/evenkeel-prod/stack/parameters.tfvars.json"))
  # Terraform makes no change set: it has to allow SAM's transform, too.
  capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
}
