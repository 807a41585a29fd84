"""The page on which a question is written in SQL, priced while it is typed, asked, and answered.

`QuestionPanel` is the part that the page Explore has, too.
"""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from hedgerow.errors import HedgerowError, edited
from hedgerow.service.access.model import Role
from hedgerow.service.console.answers import AnswerPanel
from hedgerow.service.console.editor import SqlEditor
from hedgerow.service.console.parts import Debounced, box, button, card, notice, text
from hedgerow.service.console.price import PricePanel
from hedgerow.service.console.questions import example_questions
from hedgerow.service.console.visit import INTERFACE, Visit
from hedgerow.service.errors import BusyError
from hedgerow.service.gateway import RunningStatement

PAUSE = 0.12
"""Seconds without a change after which the price is looked up."""

AGAIN = 2.0
"""Seconds after which a price is looked up again that a busy service refused."""

ASK_KEY = """(event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) emit();
}"""


class QuestionPanel:
    """One question.

    Args:
        visit: Who asks, and what.
        question: Returns the text of the question as it is now.
        refused: Called with a refusal, and with None when there is none any more.
        rewrite: Called with a better text when somebody accepts a rewrite.
    """

    _running: RunningStatement[Any] | None = None

    def __init__(
        self,
        visit: Visit,
        question: Callable[[], str],
        refused: Callable[[HedgerowError | None], None],
        rewrite: Callable[[str], None],
    ) -> None:
        self._visit = visit
        self._question = question
        self._refused = refused
        self._rewrite = rewrite
        self._pricing = Debounced(self.look_up_price, PAUSE)

    async def draw_price(self) -> None:
        """Draw the price, its controls, and the buttons that ask and stop."""
        visit = self._visit
        maximum = await visit.gateway.largest_price(visit.identity, visit.dataset, interface=INTERFACE)
        approval = visit.gateway.limits.approval_epsilon.get(visit.dataset)
        with box("div", "hr-quote"):
            self._problem = box("div", "hr-problem").props('aria-live="polite"')
            self._price_box = box("div", "hr-stack")
            with self._price_box:
                self._price = PricePanel(maximum, None if visit.identity.role is Role.OWNER else approval, self.changed)
        with box("div", "hr-row"):
            self._ask_button = button("Ask", self.ask, icon="play_arrow", kind="primary")
            with box("span", "hr-quiet hr-small hr-hint"):
                text("kbd", "Ctrl")
                text("span", " ")
                text("kbd", "Enter")
                text("span", " asks. Writing and pricing are free.")
            self._stop_button = button("Stop", self.stop, icon="stop").classes("invisible")

    def ask_by_key(self, place: ui.element) -> None:
        """Let Ctrl-Enter ask from every control in a place. The editor has a key binding of its own."""
        place.on("keydown", self.ask, js_handler=ASK_KEY)

    def draw_answer(self, first_tab: str = "Table") -> AnswerPanel:
        """Draw the place of the answer."""
        self._answer = AnswerPanel(first_tab)
        return self._answer

    def changed(self) -> None:
        """Look up the price once nothing has changed for a moment."""
        self._pricing.soon()

    async def look_up_price(self) -> None:
        """Show the price of the question as it is now, or why it is refused."""
        visit, question, options = self._visit, self._question(), self._price.options
        if not question.strip():
            self._show_refusal(None)
            self._price.clear()
            return
        quote, refused = None, None
        try:
            quote = await visit.gateway.quote(visit.identity, visit.dataset, question, interface=INTERFACE, **options)
        except HedgerowError as error:
            refused = error
            if isinstance(error, BusyError):
                self._pricing.soon(AGAIN)
        if (question, options) != (self._question(), self._price.options):
            return  # it has changed meanwhile, and its own price is on the way
        self._show_refusal(refused)
        if quote is not None:
            self._price.show(quote)
        elif not isinstance(refused, BusyError):
            self._price.clear()

    def _show_refusal(self, error: HedgerowError | None, kind: str = "warn") -> None:
        """Say why a question is refused, what to write instead, and offer to write it."""
        self._refused(error)
        self._problem.clear()
        self._price_box.set_visibility(error is None or error.span is None)
        if error is None:
            return
        with self._problem, notice(kind, error.message):
            for said in (error.hint, error.cost):
                if said:
                    text("p", said)
            if error.rewrite is not None and error.text is not None:
                better = edited(error.text, error.rewrite)
                with box("div", "hr-row"):
                    text("code", _changed_line(better, error.rewrite[0].start), "hr-rewrite")
                    button("Rewrite", lambda: self._rewrite(better), icon="auto_fix_high")

    async def ask(self) -> None:
        """Ask the question as it is now."""
        if self._running is not None:
            return
        visit, question, options = self._visit, self._question(), self._price.options
        self._busy(running=True)
        try:
            self._running = visit.gateway.submit(
                visit.identity, visit.dataset, question, interface=INTERFACE, **options
            )
            answer = await self._running.answer()
        except HedgerowError as error:
            self._show_refusal(error, "bad")
        else:
            await self._answer.show(answer, visit, question, options)
            await self.look_up_price()
        finally:
            self._running = None
            self._busy(running=False)

    def _busy(self, *, running: bool) -> None:
        self._ask_button.set_enabled(not running)
        self._stop_button.classes(**{"remove" if running else "add": "invisible"})
        self._answer.busy(running=running)

    def stop(self) -> None:
        """Stop the question that runs. What it was charged stays charged."""
        if self._running is not None:
            self._running.cancel()


def _changed_line(text: str, position: int) -> str:
    """Return the line of a text that holds a position."""
    return text[text.rfind("\n", 0, position) + 1 :].split("\n", 1)[0].strip()


async def ask_page(visit: Visit) -> None:
    """Draw the page."""
    tables = visit.gateway.tables(visit.identity, visit.dataset)
    examples = example_questions(tables)

    def write(question: str) -> None:
        editor.write(question)
        panel.changed()

    with box("div", "hr-ask") as whole:
        with card() as question_card:
            question_card.props["aria-label"] = "Question"
            first = visit.statement or next(iter(examples.values()), "")
            editor = SqlEditor(first, tables, lambda: panel.changed(), lambda: panel.ask())  # noqa: PLW0108 - made below
            panel = QuestionPanel(visit, lambda: editor.text, editor.underline, write)
            with box("div", "hr-row hr-examples"):
                text("span", "Try", "hr-quiet hr-small")
                for label, question in examples.items():
                    button(label, lambda question=question: write(question), kind="plain")
                ui.link("Build one without SQL", visit.link("/explore")).classes("hr-small hr-build")
            await panel.draw_price()
        panel.draw_answer()
        panel.ask_by_key(whole)
    ui.timer(0, panel.look_up_price, once=True)
