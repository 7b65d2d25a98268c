// Synthesizes a stack with the construct from the folder that $RENDERED names: `make cdk`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { App, Stack } from "aws-cdk-lib";
import { Evenkeel } from "./evenkeel.js";

const rendered = process.env.RENDERED ?? "";
const app = new App();
const stack = new Stack(app, "evenkeel-prod");
const evenkeel = new Evenkeel(stack, "Evenkeel", { rendered, parameters: { Mode: "act" } });
assert(evenkeel.output("RightsVersion"));

const made = app.synth().getStackByName("evenkeel-prod").template;
const given = JSON.parse(readFileSync(`${rendered}/stack/template.json`, "utf8"));
assert.deepEqual(Object.keys(made.Resources).sort(), Object.keys(given.Resources).sort());
assert.deepEqual(Object.keys(made.Outputs).sort(), Object.keys(given.Outputs).sort());
assert(!("Mode" in made.Parameters), "a parameter that has a value is none any more");
assert.equal(made.Transform, given.Transform);
console.log(`${Object.keys(made.Resources).length} resources, as in template.json`);
