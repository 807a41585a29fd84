// The editor of the console: colours that follow the page, names of the catalog as completions, a name for screen readers.
import * as CM from "nicegui-codemirror";

// CodeMirror's own style tells which parts of a language share a colour; ours gives each such part a class.
const PARTS = { "#708": "keyword", "#219": "atom", "#164": "number", "#a11": "string", "#940": "comment", "#f00": "invalid" };

const highlighting = CM.syntaxHighlighting(
  CM.HighlightStyle.define(
    CM.defaultHighlightStyle.specs
      .filter((spec) => spec.color in PARTS)
      .map((spec) => ({ tag: spec.tag, class: "hr-token-" + PARTS[spec.color] })),
  ),
);

// Tables by name or alias, as the text names them so far.
function tablesIn(text) {
  const found = {};
  for (const match of text.matchAll(/\b(?:from|join|,)\s+("[^"]+"|[\w.]+)(?:\s+(?:as\s+)?(?!on\b|where\b|group\b|join\b|left\b|order\b)(\w+))?/gi)) {
    const name = match[1].replaceAll('"', "").toLowerCase();
    found[name] = name;
    if (match[2]) found[match[2].toLowerCase()] = name;
  }
  return found;
}

function completions(words) {
  return (context) => {
    const word = context.matchBefore(/'[^']*|"[^"]*|[\w$]*/);
    if (!word || (word.from === word.to && !context.explicit && !/[.(]/.test(before(context, 1)))) return null;
    const dotted = before(context, 80, word.from).match(/([\w$]+)\.$/);
    if (dotted) {
      const table = tablesIn(context.state.doc.toString())[dotted[1].toLowerCase()] ?? dotted[1].toLowerCase();
      return { from: word.from, options: words.filter((one) => one.table?.toLowerCase() === table), validFor: /^\w*$/ };
    }
    if (word.from === word.to && !context.explicit) return null;
    if (/\b(?:from|join)\s+$/i.test(before(context, 20, word.from))) {
      return { from: word.from, options: words.filter((one) => one.type === "class"), validFor: /^["\w$]*$/ };
    }
    return { from: word.from, options: words, validFor: /^['"\w$ ]*$/ };
  };
}

function before(context, length, end = context.pos) {
  return context.state.sliceDoc(Math.max(0, end - length), end);
}

export async function prepare(id, name, words) {
  for (const word of words) word.boost = { property: 3, class: 2, constant: 1 }[word.type] ?? 0;
  const data = [{ autocomplete: completions(words) }]; // one object: CodeMirror tells sources apart by identity
  const element = getElement(id);
  const editor = await element.editorPromise;
  editor.dispatch({
    effects: [
      element.themeConfig.reconfigure(highlighting),
      CM.StateEffect.appendConfig.of([
        CM.EditorView.contentAttributes.of({ "aria-label": name, tabindex: "0" }),
        CM.EditorState.languageData.of(() => data),
        CM.EditorState.tabSize.of(2),
      ]),
    ],
  });
  editor.dom.classList.add("hr-ready");
}
