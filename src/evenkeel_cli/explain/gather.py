"""Reading what an explanation needs of a cluster."""

from collections.abc import Iterable, Iterator, Sequence

from evenkeel.decisions.drain.gangs import Gang
from evenkeel.decisions.floor.source import floor_of
from evenkeel.decisions.notice import mark
from evenkeel.errors import ForbiddenError
from evenkeel.flows import selections
from evenkeel.flows.reads import ask_for_one
from evenkeel.model import names
from evenkeel.model.annotations import MANAGED
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels, is_interruptible
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject, Metadata
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, Selection
from evenkeel.ports import Cluster
from evenkeel_cli import words
from evenkeel_cli.decisions.waiting import waiting
from evenkeel_cli.explain import balancing, drainers, hurdles, restoring
from evenkeel_cli.explain.listing import Explanation, explanation
from evenkeel_cli.ways import Situation, situations, with_places
from evenkeel_sandbox.snapshot_cluster import UNKNOWN


def answer(
    cluster: Cluster, subject: KubernetesObject, labels: CapacityLabels = WELL_KNOWN
) -> Explanation:
    """Everything that explains the subject. ``labels`` tell what is spot. Raises ClusterError."""
    found = situations(cluster, [pods_of(subject)])
    if not isinstance(subject, Node | Pod):
        mine = subject.reference
        found = [each for each in found if _belongs(each, mine.kind, mine.name)]
    else:
        found = [each for each in found if each.pod.active or isinstance(subject, Pod)]
        found = with_places(cluster, labels, found)
    nodes = [subject] if isinstance(subject, Node) else _nodes_of(cluster, found)
    facts = [
        *_facts(subject, found, nodes, labels),
        *_floor(cluster, subject, found),
        *_asked(each.pod for each in found),
        *hurdles.find(cluster, found),
        *(() if isinstance(subject, Node) else balancing.find(cluster, found)),
        *_of_restore(cluster, subject, found, labels),
    ]
    return explanation(subject, facts, found, drainers.find(cluster, nodes))


def pods_of(subject: KubernetesObject) -> Selection[Pod]:
    """Which pods are the subject's."""
    match subject:
        case Node():
            return selections.pods_on(subject.name)
        case Deployment():
            return selections.selected(subject.namespace, subject.spec.selector)
        case Controller():
            return selections.selected(subject.namespace, subject.selector)
    return Selection(Pod, subject.namespace, fields=f"metadata.name={subject.name}")


def _of_restore(
    cluster: Cluster, subject: KubernetesObject, found: Iterable[Situation], labels: CapacityLabels
) -> Iterable[str]:
    """What restore says of a workload, or of that of a pod."""
    if isinstance(subject, Node):
        return ()
    return restoring.said(cluster, labels, {subject.reference, *(s.workload for s in found)})


def _belongs(situation: Situation, kind: str, name: str) -> bool:
    """Whether a pod that is selected is really owned, and counts."""
    owners = (situation.owner.controller, situation.owner.deployment)
    owned = any(o is not None and (o.resource.kind, o.name) == (kind, name) for o in owners)
    return owned and situation.pod.active


def _nodes_of(cluster: Cluster, found: Iterable[Situation]) -> list[Node]:
    wanted = sorted({each.pod.spec.node_name for each in found} - {""})
    nodes = (ask_for_one(cluster, Get(Node, name)) for name in wanted)
    return [node for node in nodes if node is not None]


def _facts(
    subject: KubernetesObject,
    found: Sequence[Situation],
    nodes: Sequence[Node],
    labels: CapacityLabels,
) -> list[str]:
    if isinstance(subject, Node):
        return _node_facts(subject, labels)
    facts = []
    if isinstance(subject, Pod) and found:
        facts.append(f"It belongs to {words.workload_name(found[0].workload)}.")
    elif isinstance(subject, Deployment | Controller) and subject.replicas is not None:
        facts.append(f"It wants {words.counted(subject.replicas, 'pod')}.")
    if len(nodes) == 1:
        is_told = labels.doubt_about(nodes[0]) is None
        capacity = labels.of(nodes[0]) if is_told else "of no known capacity type"
        facts.append(f"It is on node {nodes[0].name} ({capacity}).")
    elif nodes:
        spot = sum(labels.of(node) is Capacity.SPOT for node in nodes)
        facts.append(f"It is on {len(nodes)} nodes, {spot} of them spot.")
    budgets = sorted({budget.name for each in found for budget in each.budgets})
    if budgets:
        facts.append(f"Disruption budgets select it: {', '.join(budgets)}.")
    facts += sorted({_in_a_gang(each.gang) for each in found if each.gang is not None})
    facts += [f"Node {node.name}: {fact}" for node in nodes for fact in _doom(node)]
    return facts


def _floor(
    cluster: Cluster, subject: KubernetesObject, found: Iterable[Situation]
) -> Iterator[str]:
    """How many pods of a workload are to be on on-demand nodes, who says so, and what that means.

    Nothing where none is, or where its namespace may not be read.
    """
    if not isinstance(subject, Deployment | StatefulSet):
        return
    try:
        home = ask_for_one(cluster, Get(Namespace, subject.namespace))
    except ForbiddenError:
        return
    space = home.metadata if home is not None else Metadata(name=subject.namespace)
    in_gang = any(each.gang is not None for each in found)
    floor = floor_of(subject, space.annotations, in_gang=in_gang)
    wanted = floor.floor.of(subject.spec.replicas)
    if not wanted:
        return
    who = f"by its {floor.source}" if floor.is_asked else "by default"
    if space.labels == UNKNOWN:
        more = "; whether its namespace is managed, or gives a floor, is not known"
    elif MANAGED.of(space.labels) != names.TRUE:
        more = "; its namespace is not managed: nothing places its pods"
    else:
        more = "" if floor.is_asked else ": new pods prefer that, and none waits or is moved for it"
    yield (
        f"Its floor: {wanted} of {subject.spec.replicas} are to be on on-demand nodes {who}{more}."
    )


def _in_a_gang(gang: Gang) -> str:
    all_go = "all of them go together, those on healthy nodes too"
    which = all_go if gang.all_go else "those on dying nodes go together"
    when = "where one has to go" if gang.minimum is None else "where fewer stay"
    return (
        f"It is in the {gang}: {when}, {which}, at the earliest last moment of those that die."
        " Restore moves all of it or none."
    )


def _node_facts(node: Node, labels: CapacityLabels) -> list[str]:
    facts = []
    if where := labels.elsewhere(node):
        facts.append(
            f"No EC2 instance runs it ({where}): no notice can be about it, and no pod is"
            " moved from it or to it."
        )
        return facts + _doom(node)
    if is_interruptible(node):
        facts.append("EC2 may take its reserved capacity back: it counts as spot.")
    elif labels.call_spot(node):
        facts.append("It is a spot node.")
    elif (doubt := labels.doubt_about(node)) is not None:
        facts.append(
            f"Its label {'='.join(doubt)} says neither spot nor on-demand: no floor holds there,"
            " and a warning is believed if EC2 calls its instance spot."
        )
    elif labels.are_on(node):
        facts.append("It is an on-demand node: EC2 sends no interruption warnings for it.")
    else:
        facts.append(f"None of the labels {labels} says what it is: it counts as on-demand.")
    if not node.spec.provider_id:
        facts.append("It has no spec.providerID: events find it by its private DNS name alone.")
    elif not node.instance_id:
        facts.append("It has no EC2 instance in spec.providerID: no event can be about it.")
    if node.spec.unschedulable and mark.read(node) is None:
        facts.append("It is cordoned already; Evenkeel will not lift that cordon.")
    return facts + _doom(node)


def _asked(pods: Iterable[Pod]) -> Iterator[str]:
    """The pods whose eviction waits, and who asked for it."""
    for pod in pods:
        eviction = waiting(pod)
        if eviction is not None:
            yield f"{eviction.message}."


def _doom(node: Node) -> list[str]:
    notice = mark.read(node)
    if notice is None:
        return []
    when = notice.deadline.strftime("%H:%M:%S UTC")
    return [f"marked already, for {notice.name}, until {when}."]
