import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CfnInclude } from "aws-cdk-lib/cloudformation-include";
import { Construct } from "constructs";

export interface EvenkeelProps {
  /** The folder that `evenkeel install --render DIR --bucket BUCKET` wrote. */
  readonly rendered: string;
  /** Parameters that count before the rendered ones: docs/reference/parameters.md. */
  readonly parameters?: { readonly [name: string]: string };
}

/**
 * The resources of Evenkeel for one cluster, in the stack that has this construct.
 *
 * The stack's name begins with `evenkeel-`. It is no nested stack: CDK deploys by change sets, which SAM's
 * transform does not take there.
 */
export class Evenkeel extends Construct {
  readonly template: CfnInclude;

  constructor(scope: Construct, id: string, props: EvenkeelProps) {
    super(scope, id);
    const stack = join(props.rendered, "stack");
    const rendered = JSON.parse(readFileSync(join(stack, "parameters.tfvars.json"), "utf8"));
    this.template = new CfnInclude(this, "Template", {
      templateFile: join(stack, "template.json"),
      parameters: { ...rendered, ...props.parameters },
    });
  }

  /** The value of an output, such as `PlacementUrl`. */
  output(name: string): string {
    return String(this.template.getOutput(name).value);
  }
}
