"""The page on which a question is written in SQL, priced while it is typed, asked, and answered."""

from nicegui import ui

from hedgerow.service.console.desk import Desk
from hedgerow.service.console.editor import SqlEditor
from hedgerow.service.console.parts import box, button, card, text
from hedgerow.service.console.questions import example_questions
from hedgerow.service.console.visit import Visit


async def ask_page(visit: Visit) -> None:
    """Draw the page."""
    tables = visit.gateway.tables(visit.identity, visit.dataset)
    examples = example_questions(tables)

    def write(question: str) -> None:
        editor.write(question)
        desk.changed()

    with box("div", "hr-ask"):
        with card() as question_card:
            question_card.props["aria-label"] = "Question"
            first = visit.statement or next(iter(examples.values()), "")
            editor = SqlEditor(first, tables, lambda: desk.changed(), lambda: desk.ask())  # noqa: PLW0108 - made below
            desk = Desk(visit, lambda: editor.text, editor.underline, write)
            with box("div", "hr-row hr-examples"):
                text("span", "Try", "hr-quiet hr-small")
                for label, question in examples.items():
                    button(label, lambda question=question: write(question), kind="plain")
            await desk.draw_price()
        desk.draw_answer()
    ui.timer(0, desk.look_up_price, once=True)
