"""Start ministack, and write down which rights are asked of it, by whom, and what it decides.

Run by the Python of .venv-ministack. ministack evaluates the policies of every request whose
signature is not the account owner's: with its action, its resource and its condition keys.
"""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

from ministack.core import iam_actions, iam_evaluator

EVALUATE = iam_evaluator.evaluate
ENFORCING = iam_evaluator.enforce.__name__
"""What asks for the policies of who calls; others ask for a queue's or a bucket's own."""
RESOURCE = iam_actions.extract_resource_arn
EXTRACT = iam_actions.extract_iam_action
CONTEXT = iam_actions.request_tag_context


def main(runtime: str, trail: str) -> None:
    """Record into ``trail``, a line of JSON for each.

    Functions run on what ministack takes for its own interpreter, and would find its packages
    there. ``runtime`` has none but those of Lambda's runtime: what a function imports has to be in
    its layer.
    """
    log = Path(trail).open("a", buffering=1)  # noqa: SIM115 - as long as the process

    def write(**told: Any) -> None:
        log.write(json.dumps(told) + "\n")

    def evaluate(context: Any, *policies: Any) -> Any:
        result = EVALUATE(context, *policies)
        if sys._getframe(1).f_code.co_name == ENFORCING:
            write(
                principal=context.principal_arn,
                action=context.action,
                resource=context.resource_arn,
                allowed=result.decision == "Allow",
            )
        return result

    def extract(service: str, method: str, path: str, headers: Any, *rest: Any) -> Any:
        action = EXTRACT(service, method, path, headers, *rest)
        if action is None:  # it lets everybody do this
            agent = headers.get("user-agent", "")
            write(principal=agent, action=f"{service} {method} {path}", resource="", allowed=None)
        return action

    def resource(service: str, method: str, path: str, headers: Any, body: Any, *rest: Any) -> Any:
        """AWS names no bus in the ARN of a rule of the default one, and goes by a target's rule.

        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoneventbridge.html
        """
        arn = RESOURCE(service, method, path, headers, body, *rest)
        asked = json.loads(body or "{}") if service == "events" else {}
        if rule := asked.get("Rule", ""):
            _, region, account = rest
            return f"arn:aws:events:{region}:{account}:rule/{rule}"
        return arn.replace(":rule/default/", ":rule/")

    def context(service: str, action: str, body: Any, *rest: Any) -> dict[str, Any]:
        """AWS judges an event by its source and detail type, too; the functions put one at a time.

        https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-conditions.html
        """
        found: dict[str, Any] = CONTEXT(service, action, body, *rest)
        if action == "events:PutEvents":
            entry = json.loads(body)["Entries"][0]
            told = {"events:source": entry["Source"], "events:detail-type": entry["DetailType"]}
            return found | told
        return found

    iam_evaluator.evaluate = evaluate
    iam_actions.request_tag_context = context
    iam_actions.extract_resource_arn = resource
    iam_actions.extract_iam_action = extract
    sys.executable = runtime
    sys.argv = ["ministack"]
    runpy.run_module("ministack", run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
