"""Tables of Delta and Iceberg in folders: the rows of the newest version, or a refusal, never rows of the past."""

import json
import shutil
import struct
from datetime import date
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pyroaring
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType

import hedgerow as hr
from hedgerow.backends import connect_backend
from hedgerow.errors import BackendError
from hedgerow.expressions.types import Type

VISITS = pa.table(
    {
        "id": range(12),
        "cost": [10 * n for n in range(12)],
        "day": [date(2026, 1, 1 + n % 3) for n in range(12)],
        "ward": ["a b", "c/d", None, "x=y"] * 3,
    }
)
CATALOG = """\
dataset: lake
budget: {epsilon: 100000, delta: 0.01, pure_epsilon: 50000}
defaults: {epsilon: 1000, delta: 1e-8, min_frequency: 1}
tables:
  visits: {unit: id, max_rows: 1, columns: {cost: {lower: 0, upper: 1000}}}
"""


def rows(folder, sql):
    backend = connect_backend(folder)
    try:
        return backend._cursor().sql(sql).fetchall()
    finally:
        backend.close()


def refused(folder):
    with pytest.raises(BackendError) as error:
        connect_backend(folder)
    return error.value


@pytest.fixture
def delta(tmp_path):
    """A folder with a table of Delta from which three of twelve rows were deleted."""
    folder = tmp_path / "data"
    deltalake.write_deltalake(str(folder / "visits"), VISITS, partition_by=["day", "ward"])
    deltalake.DeltaTable(str(folder / "visits")).delete("id < 3")
    return folder


@pytest.fixture
def catalog(tmp_path):
    """A catalog of Iceberg."""
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/lake.db", warehouse=f"file://{tmp_path}/lake")
    catalog.create_namespace("data")
    yield catalog
    catalog.close()


@pytest.fixture
def iceberg(catalog):
    """A table of Iceberg from which three of twelve rows were deleted."""
    table = catalog.create_table("data.visits", schema=VISITS.schema)
    with table.update_spec() as spec:
        spec.add_identity("day")
    table.append(VISITS)
    table.delete("id < 3")
    return table


def folder_of(table):
    return table.location().removeprefix("file://")


def metadata_files(table):
    return list((Path(folder_of(table)) / "metadata").glob("*.metadata.json"))


def test_a_table_of_delta_has_the_rows_of_its_newest_version(delta):
    assert rows(delta, "SELECT id, day, ward FROM visits ORDER BY id") == [
        (row["id"], row["day"], row["ward"]) for row in VISITS.to_pylist() if row["id"] >= 3
    ]


def test_columns_in_the_names_of_folders_have_the_types_that_the_log_states(delta):
    backend = connect_backend(delta)
    columns = backend.schema().tables["visits"].columns
    backend.close()
    assert (columns["day"].type, columns["ward"].type, columns["cost"].type) == (Type.DATE, Type.TEXT, Type.INTEGER)


def test_a_folder_that_is_a_table_itself_has_its_name(delta):
    assert rows(delta / "visits", "SELECT COUNT(*) FROM visits") == [(9,)]


def test_a_table_of_iceberg_has_the_rows_of_its_newest_version(iceberg):
    assert rows(folder_of(iceberg), "SELECT id, day, ward FROM visits ORDER BY id") == [
        (row["id"], row["day"], row["ward"]) for row in VISITS.to_pylist() if row["id"] >= 3
    ]


def test_the_hint_of_iceberg_names_the_newest_version(iceberg, tmp_path):
    """Catalogs in folders write a hint, and number versions without more."""
    folder = tmp_path / "hinted" / "visits"
    shutil.copytree(folder_of(iceberg), folder)
    metadata = folder / "metadata"
    for number, path in enumerate(sorted(metadata.glob("*.metadata.json")), 1):
        path.rename(metadata / f"v{number}.metadata.json")
    (metadata / "version-hint.text").write_text(str(number))
    assert "in another folder" in refused(folder).message  # files are named by their whole path, which is the old one
    for path in metadata.glob("v*.metadata.json"):
        shutil.copy(path, folder_of(iceberg) + "/metadata")
    for path in folder.parent.parent.glob("lake/data/visits/metadata/0*.metadata.json"):
        path.unlink()
    shutil.copy(metadata / "version-hint.text", folder_of(iceberg) + "/metadata")
    assert rows(folder_of(iceberg), "SELECT COUNT(*) FROM visits") == [(9,)]


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_a_column_that_was_added_later_is_null_in_earlier_files(kind, delta, iceberg):
    later = VISITS.slice(0, 1).append_column("stay", pa.array([7], pa.int64()))
    if kind == "delta":
        deltalake.write_deltalake(str(delta / "visits"), later, mode="append", schema_mode="merge")
        folder = delta
    else:
        with iceberg.update_schema() as schema:
            schema.union_by_name(later.schema)
        iceberg.append(later)
        folder = folder_of(iceberg)
    assert rows(folder, "SELECT COUNT(*), COUNT(stay), SUM(stay) FROM visits") == [(10, 1, 7)]


def test_an_answer_keeps_its_version_while_the_table_is_written(delta, tmp_path):
    (tmp_path / "lake.yaml").write_text(CATALOG)
    with hr.connect(delta, catalog=tmp_path / "lake.yaml") as db:
        first = db.sql("SELECT COUNT(*) AS n FROM visits")["n"][0]
        deltalake.DeltaTable(str(delta / "visits")).delete()
        later = db.sql("SELECT COUNT(*) AS n FROM visits", reuse=False)["n"][0]
    assert (round(first), round(later)) == (9, 9)


def test_the_version_that_was_opened_has_facts(delta):
    backend = connect_backend(delta)
    assert backend.keeps_facts({"visits"})
    backend.close()


def z85(data):
    """Return bytes as text, five characters for four bytes, as ZeroMQ's RFC 32 defines it."""
    letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    words = [int.from_bytes(data[i : i + 4], "big") for i in range(0, len(data), 4)]
    return "".join(letters[word // 85**power % 85] for word in words for power in (4, 3, 2, 1, 0))


def log_entry(folder, actions):
    number = len(list((folder / "_delta_log").glob("*.json")))
    (folder / "_delta_log" / f"{number:020}.json").write_text("\n".join(map(json.dumps, actions)) + "\n")


def added(folder):
    lines = (folder / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    return next(action["add"] for action in map(json.loads, lines) if "add" in action)


def test_rows_that_a_deletion_vector_deletes_are_not_read_as_if_they_were_there(tmp_path):
    folder = tmp_path / "visits"
    deltalake.write_deltalake(str(folder), VISITS)
    bitmap = pyroaring.BitMap([0]).serialize()
    data = struct.pack("<iqI", 1681511377, 1, 0) + bitmap
    add, features = added(folder), ["deletionVectors"]
    vector = {"storageType": "i", "pathOrInlineDv": z85(data), "sizeInBytes": len(data), "cardinality": 1}
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": features, "writerFeatures": features}
    log_entry(folder, [{"protocol": protocol}])
    assert rows(folder, "SELECT COUNT(*) FROM visits") == [(12,)]  # the feature alone does no harm
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    log_entry(folder, [{"remove": remove}, {"add": {**add, "deletionVector": vector}}])
    error = refused(folder)
    assert (error.code, "deletion vectors" in error.message) == ("lakehouse", True)


def test_files_of_another_folder_are_refused(tmp_path):
    folder = tmp_path / "visits"
    deltalake.write_deltalake(str(folder), VISITS)
    add = added(folder)
    (folder / add["path"]).rename(tmp_path / "elsewhere.parquet")
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    log_entry(folder, [{"remove": remove}, {"add": {**add, "path": f"{tmp_path}/elsewhere.parquet"}}])
    assert "in another folder" in refused(folder).message


def test_a_folder_whose_name_is_not_the_value_in_the_log_is_refused(tmp_path):
    folder = tmp_path / "visits"
    deltalake.write_deltalake(str(folder), VISITS.slice(0, 1), partition_by=["day"])
    add = added(folder)
    moved = add["path"].replace("2026-01-01", "2026-01-02")
    (folder / moved).parent.mkdir()
    (folder / add["path"]).rename(folder / moved)
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    log_entry(folder, [{"remove": remove}, {"add": {**add, "path": moved}}])
    assert "names of folders" in refused(folder).message


def test_columns_with_other_names_in_the_files_are_refused(tmp_path):
    folder = tmp_path / "visits"
    deltalake.write_deltalake(str(folder), VISITS)
    lines = (folder / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    metadata = next(action["metaData"] for action in map(json.loads, lines) if "metaData" in action)
    features = {"readerFeatures": ["columnMapping"], "writerFeatures": ["columnMapping"]}
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, **features}
    mode = {"delta.columnMapping.mode": "name"}
    log_entry(folder, [{"protocol": protocol}, {"metaData": {**metadata, "configuration": mode}}])
    assert refused(folder).code == "lakehouse"


def test_a_column_of_iceberg_that_was_renamed_is_refused(iceberg):
    with iceberg.update_schema() as schema:
        schema.rename_column("cost", "price")
        schema.add_column("note", IntegerType())
    assert "cost was renamed" in refused(folder_of(iceberg)).message
    with iceberg.update_schema() as schema:
        schema.add_column("cost", IntegerType())
    assert "cost was renamed" in refused(folder_of(iceberg)).message  # another column has the name now


class DeletesWriter(ManifestWriterV2):
    """Write a list of delete files, as Spark and Flink do; pyiceberg itself rewrites files instead."""

    def content(self):
        return ManifestContent.DELETES

    @property
    def _meta(self):
        return {**super()._meta, "content": "deletes"}


def test_rows_that_a_delete_file_deletes_are_not_read_as_if_they_were_there(catalog):
    table = catalog.create_table("data.plain", schema=VISITS.schema)
    table.append(VISITS)
    folder, snapshot = Path(folder_of(table)), table.current_snapshot()
    [task] = table.scan().plan_files()
    deleted = folder / "data" / "deleted.parquet"
    pq.write_table(pa.table({"file_path": [task.file.file_path], "pos": pa.array([0], pa.int64())}), deleted)
    delete_file = DataFile.from_args(
        _table_format_version=2,
        content=DataFileContent.POSITION_DELETES,
        file_path=f"file://{deleted}",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=1,
        file_size_in_bytes=deleted.stat().st_size,
        spec_id=0,
    )
    entry = ManifestEntry.from_args(
        status=ManifestEntryStatus.ADDED, snapshot_id=snapshot.snapshot_id, sequence_number=9, data_file=delete_file
    )
    listed = table.io.new_output(f"file://{folder}/metadata/deletes.avro")
    with DeletesWriter(table.spec(), table.schema(), listed, snapshot.snapshot_id, "null") as deletes:
        deletes.add_entry(entry)
    manifest = deletes.to_manifest_file()
    lists = table.io.new_output(f"file://{folder}/metadata/lists.avro")
    with write_manifest_list(2, lists, snapshot.snapshot_id, None, 9, "null") as writer:
        writer.add_manifests([*snapshot.manifests(table.io), manifest])
    newest = max(metadata_files(table))
    text = newest.read_text().replace(snapshot.manifest_list, lists.location)
    newest.with_name("00009-deleted.metadata.json").write_text(text)
    assert "delete files" in refused(folder).message


def test_two_versions_with_one_number_are_refused(iceberg):
    newest = max(metadata_files(iceberg))
    shutil.copy(newest, newest.with_name(f"{newest.name[:5]}-other.metadata.json"))
    assert "same number" in refused(folder_of(iceberg)).message


@pytest.mark.parametrize("text", ["", "{", "[]", '{"add": {"path": "x"}}'])
def test_a_damaged_log_is_refused(tmp_path, text):
    (tmp_path / "visits" / "_delta_log").mkdir(parents=True)
    (tmp_path / "visits" / "_delta_log" / f"{0:020}.json").write_text(text)
    assert refused(tmp_path).code in {"lakehouse", "no-tables"}
