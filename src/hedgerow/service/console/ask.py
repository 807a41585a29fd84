"""The page on which a question is written in SQL, priced while it is typed, asked, and answered."""

from nicegui import ui

from hedgerow.service.console.editor import SqlEditor
from hedgerow.service.console.parts import box, button, card, text
from hedgerow.service.console.question_panel import QuestionPanel
from hedgerow.service.console.questions import example_questions
from hedgerow.service.console.visit import Visit


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
