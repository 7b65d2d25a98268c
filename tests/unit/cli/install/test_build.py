"""What a stack is made of: digests, the layer, and a template that CloudFormation can read."""

import json
import zipfile
from pathlib import Path

import pytest

import evenkeel
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install import build, template, zips
from evenkeel_hosting import files
from tests.stack.cloudformation import TEMPLATE, load

CODE = {
    f"python/evenkeel/{path}": content
    for path, content in zips.files_in(Path(evenkeel.__file__).parent).items()
    if path.endswith(".py")
}


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The layer of this installation, with the code that runs here."""
    path = tmp_path / "layer.zip"
    path.write_bytes(zips.zipped(CODE))
    monkeypatch.setattr(files, "LAYER", path)
    return path


@pytest.mark.parametrize(
    "other",
    [
        {**CODE, "python/evenkeel/errors.py": b"other = 1"},
        {**CODE, "python/evenkeel/later.py": b""},
        {path: each for path, each in CODE.items() if not path.endswith("/errors.py")},
    ],
    ids=["changed", "more", "less"],
)
def test_a_layer_of_another_version_is_refused(layer: Path, other: dict[str, bytes]) -> None:
    layer.write_bytes(zips.zipped(other))
    with pytest.raises(
        UnmetError, match=r"not the code that runs here, as in (errors|later)\.py: "
    ):
        build.made()


def test_a_layer_that_is_no_zip_is_refused(layer: Path) -> None:
    layer.write_bytes(b"half")
    with pytest.raises(UnmetError, match=r"layer\.zip is no zip"):
        build.made()


def test_what_one_deflate_writes_and_another_has_one_digest(layer: Path) -> None:
    one = build.made()
    with zipfile.ZipFile(layer, "w", zipfile.ZIP_STORED) as made:
        made.mkdir("python/evenkeel")
        for path, content in CODE.items():
            made.writestr(path, content)
    other = build.made()
    assert one.pieces["Layer"].content != other.pieces["Layer"].content
    assert one.placed_in("b", "s") == other.placed_in("b", "s")
    layer.write_bytes(zips.zipped({**CODE, "python/urllib3.py": b"1"}))
    assert build.made().pieces["Layer"].digest != one.pieces["Layer"].digest


def test_a_digest_tells_apart_what_lies_between_names_and_contents() -> None:
    assert zips.digest({"ab": b"c"}) != zips.digest({"a": b"bc"})
    assert zips.digest({"a": b"", "b": b""}) == zips.digest({"b": b"", "a": b""})


def test_a_function_s_zip_holds_its_sources_and_is_always_the_same(layer: Path) -> None:
    pieces = build.made().pieces
    names = {"Interruption", "Handover", "Restore", "Placement"}
    assert set(pieces) == {"Layer", *(f"{name}Function" for name in names)}
    handover = pieces["HandoverFunction"]
    folder = files.FUNCTIONS / "handover"
    assert zips.unzipped(handover.content) == {
        name: (folder / name).read_bytes() for name in ("__init__.py", "app.py")
    }
    assert build.made().pieces["HandoverFunction"].content == handover.content
    layer.write_bytes(handover.content)
    with zipfile.ZipFile(layer) as made:
        assert {each.external_attr >> 16 for each in made.infolist()} == {0o100644}


@pytest.mark.usefixtures("layer")
def test_the_template_is_json_without_aliases_and_names_what_is_uploaded() -> None:
    assert "\n      Targets: *Notices\n" in TEMPLATE.read_text()
    made = build.made()
    placed = made.placed_in("bucket", "evenkeel-prod")
    document = build.document(placed)
    read = json.loads(document.content)
    assert read == placed
    resources = read["Resources"]
    rules = [resources[name]["Properties"]["Targets"] for name in ("NoticeRule", "StateChangeRule")]
    assert rules[0] == rules[1] != []
    assert resources["Layer"]["Properties"]["ContentUri"] == (
        f"s3://bucket/evenkeel-prod/Layer-{made.pieces['Layer'].digest}.zip"
    )
    assert build.bucket_of(read, "evenkeel-prod") == "bucket"
    assert build.bucket_of(read, "evenkeel") == ""
    # The rest is as it is written.
    assert template.placed(read, template.uris(load())) == load()
    assert len(document.content) < 1_000_000
    assert document.key("evenkeel-prod") == f"evenkeel-prod/template-{document.digest}.json"


def test_another_s_template_is_read_as_it_was_given() -> None:
    """What `sam package` writes is YAML, with places of its own."""
    text = """
Resources:
  Layer:
    Type: AWS::Serverless::LayerVersion
    Properties: {ContentUri: s3://aws-sam-cli/evenkeel-prod/5f3e, LayerName: !Ref AWS::StackName}
  Queue: {Type: AWS::SQS::Queue, Properties: {A: !GetAtt X.Y.Z, B: !Sub ["${C}", {C: !Ref D}]}}
"""
    read = template.read(text)
    assert template.uris(read) == {"Layer": "s3://aws-sam-cli/evenkeel-prod/5f3e"}
    assert build.bucket_of(read, "evenkeel-prod") == ""
    assert read["Resources"]["Queue"]["Properties"] == {
        "A": {"Fn::GetAtt": ["X", "Y.Z"]},
        "B": {"Fn::Sub": ["${C}", {"C": {"Ref": "D"}}]},
    }
    for other in ("a: [", "a"):
        with pytest.raises(UnmetError, match="the template is no"):
            template.read(other)
