// The editor of the console: colours that follow the page, names of the catalog as completions, a name for screen readers.
import * as CM from "nicegui-codemirror";

// CodeMirror's own style tells which parts of a language share a colour; ours gives each such part a class.
const PARTS = { "#708": "keyword", "#219": "atom", "#164": "number", "#a11": "string", "#940": "comment", "#f00": "invalid", "#00c": "name" };

const highlighting = CM.syntaxHighlighting(
  CM.HighlightStyle.define(
    CM.defaultHighlightStyle.specs
      .filter((spec) => spec.color in PARTS)
      .map((spec) => ({ tag: spec.tag, class: "hr-token-" + PARTS[spec.color] })),
  ),
);

// CodeMirror takes COUNT for a keyword, and AVG for a name: here all known functions look alike.
function functionNames(words) {
  const names = words.filter((one) => one.type === "function" && /^\w+$/.test(one.label)).map((one) => one.label);
  if (!names.length) return [];
  const matcher = new CM.MatchDecorator({
    regexp: new RegExp(`\\b(?:${names.join("|")})(?=\\s*\\()`, "gi"),
    decoration: CM.Decoration.mark({ class: "hr-token-function" }),
  });
  return CM.ViewPlugin.define(
    (view) => ({
      decorations: matcher.createDeco(view),
      update(change) { this.decorations = matcher.updateDeco(change, this.decorations); },
    }),
    { decorations: (plugin) => plugin.decorations },
  );
}

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
    const word = wordBefore(context);
    if (!word || (word.from === word.to && !context.explicit && !/[.(]/.test(before(context, 1)))) return null;
    const dotted = before(context, 80, word.from).match(/([\w$]+)\.$/);
    if (dotted) {
      const table = tablesIn(context.state.doc.toString())[dotted[1].toLowerCase()] ?? dotted[1].toLowerCase();
      return { from: word.from, options: words.filter((one) => one.table?.toLowerCase() === table), validFor: /^\w*$/ };
    }
    if (!context.explicit && (word.from === word.to || isNew(context, word))) return null;
    const values = valuesOf(words, before(context, 200, word.from));
    if (values.length) return { from: word.from, options: values, validFor: /^['\w$ ]*$/ };
    if (/\b(?:from|join)\s+$/i.test(before(context, 20, word.from))) {
      return { from: word.from, options: words.filter((one) => one.type === "class"), validFor: /^["\w$]*$/ };
    }
    return { from: word.from, options: words, validFor: /^(?:[\w$]*|'[^']*|"[^"]*)$/ };
  };
}

// After AS somebody types a name of their own, which Enter must not replace; a number is complete, too.
function isNew(context, word) {
  return /^\d/.test(context.state.sliceDoc(word.from, word.to)) || /\bas\s+$/i.test(before(context, 10, word.from));
}

// Writes a completion. An end of it that follows already, such as the quote that the editor has closed, is replaced.
function write(text) {
  return (view, _completion, from, to) => {
    const end = /['"(]$/.test(text) && view.state.sliceDoc(to, to + 1) === text.at(-1) ? to + 1 : to;
    const changes = { from, to: end, insert: text };
    view.dispatch({ changes, selection: { anchor: from + text.length }, userEvent: "input.complete" });
  };
}

// The word that is being typed: one in quotes begins at its quote, which an odd number of quotes gives away.
function wordBefore(context) {
  const start = context.state.doc.lineAt(context.pos).from;
  const text = context.state.sliceDoc(start, context.pos);
  for (const quote of ["'", '"']) {
    if (text.split(quote).length % 2 === 0) return { from: start + text.lastIndexOf(quote), to: context.pos };
  }
  return context.matchBefore(/[\w$]*/);
}

// Declared values of the column that is compared where the text ends: after "region =", "region IN (" and the like.
function valuesOf(words, text) {
  const compared = text.match(/("[^"]+"|[\w$]+)\s*(?:=|<>|!=|\bin\s*\((?:[^()]*,)?|\bnot\s+in\s*\((?:[^()]*,)?)\s*$/i);
  const column = compared?.[1].replaceAll('"', "").toLowerCase();
  return words.filter((one) => one.type === "constant" && one.detail.toLowerCase() === column);
}

function before(context, length, end = context.pos) {
  return context.state.sliceDoc(Math.max(0, end - length), end);
}

// Marks parts of a text, unless the text has changed since: then marks of the new text are on their way.
export async function mark(id, text, decorations, tooltips) {
  const element = getElement(id);
  const editor = await element.editorPromise;
  if (editor.state.doc.toString() !== text) return;
  element.setDecorations(decorations);
  element.setLineTooltips(tooltips);
}

const LEAVING = "Escape and then Tab leave the editor.";

export async function prepare(id, name, words) {
  for (const word of words) {
    word.boost = { property: 3, class: 2, constant: 1 }[word.type] ?? 0;
    word.apply = write(word.apply ?? word.label);
  }
  const data = [{ autocomplete: completions(words) }]; // one object: CodeMirror tells sources apart by identity
  const element = getElement(id);
  const editor = await element.editorPromise;
  const support = await element.findLanguage(element.language).load();
  editor.dispatch({
    effects: [
      element.languageConfig.reconfigure(support.language), // without the words that it would propose by itself
      element.themeConfig.reconfigure(highlighting),
      CM.StateEffect.appendConfig.of([
        CM.EditorView.contentAttributes.of({ "aria-label": name, "aria-description": LEAVING, tabindex: "0" }),
        CM.EditorState.languageData.of(() => data),
        CM.EditorState.tabSize.of(2),
        functionNames(words),
      ]),
    ],
  });
}
