"""Another taskset, of one turn: say a line backwards. Loaded by `vf-eval` by its name."""
# mypy: disable-error-code="import-untyped, misc, untyped-decorator"

from __future__ import annotations

from collections.abc import Iterator

import verifiers.v1 as vf

_LINES = ("one two three", "noughts and crosses", "a cat sat", "four in a row")


class LineData(vf.TaskData):
    line: str


class LineTask(vf.Task[LineData]):
    @vf.reward(weight=0.8)
    async def reversed_words(self, trace: vf.Trace) -> float:
        said = trace.messages[-1].content or ""
        return float(said.split() == self.data.line.split()[::-1])

    @vf.reward(weight=0.2)
    async def brief(self, trace: vf.Trace) -> float:
        return float(len(trace.messages[-1].content or "") <= 40)


class LineTaskset(vf.Taskset[LineTask, vf.TasksetConfig]):
    def load(self) -> Iterator[LineTask]:
        for line in _LINES:
            yield LineTask(
                LineData(prompt=line, system_prompt="Say it backwards.", line=line),
                self.config.task,
            )


__all__ = ["LineTaskset"]
