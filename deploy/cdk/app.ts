// A sample: the stack of one cluster, from what `evenkeel install --render evenkeel-prod --bucket BUCKET` wrote here.
import { readFileSync } from "node:fs";
import { App, Stack } from "aws-cdk-lib";
import { CfnInclude } from "aws-cdk-lib/cloudformation-include";

const app = new App();
new CfnInclude(new Stack(app, "evenkeel-prod"), "Evenkeel", {
  templateFile: "evenkeel-prod/stack/template.json",
  parameters: JSON.parse(readFileSync("evenkeel-prod/stack/parameters.tfvars.json", "utf8")),
});
app.synth();
