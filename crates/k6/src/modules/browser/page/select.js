// Finds elements. A locator is a list of parts. Each part searches inside the elements that the previous parts found.

/** All elements below `scope`, including those in open shadow roots. */
function* below(scope) {
  const walker = document.createTreeWalker(scope, NodeFilter.SHOW_ELEMENT);
  if (scope.shadowRoot) yield* below(scope.shadowRoot);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    yield node;
    if (node.shadowRoot) yield* below(node.shadowRoot);
  }
}

function ofCss(css, scope) {
  const found = [...scope.querySelectorAll(css)];
  if (found.length > 0) return found;
  // Searches open shadow roots, too.
  const inside = [];
  if (scope.shadowRoot) inside.push(...scope.shadowRoot.querySelectorAll(css));
  for (const element of below(scope)) {
    if (element.shadowRoot) inside.push(...element.shadowRoot.querySelectorAll(css));
  }
  return inside;
}

/** CSS with `:has-text("…")`, `:text("…")`, `:text-is("…")` and `:visible` at its end. */
function ofExtendedCss(css, scope) {
  const addition = /:(has-text|text|text-is)\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\)$|:visible$/.exec(css);
  if (!addition) return ofCss(css, scope);
  const before = css.slice(0, addition.index) || '*';
  const found = ofExtendedCss(before, scope);
  if (!addition[1]) return found.filter(isVisible);
  const text = (addition[2] ?? addition[3]).replace(/\\(.)/g, '$1');
  const matches = matcher({ text, exact: addition[1] === 'text-is' });
  if (addition[1] === 'has-text') return found.filter((element) => matches(textOf(element)));
  return found.filter((element) => isDeepest(element, matches));
}

function ofXpath(xpath, scope) {
  const path = xpath.startsWith('/') && scope !== document ? `.${xpath}` : xpath;
  const result = document.evaluate(path, scope, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
  const found = [];
  for (let at = 0; at < result.snapshotLength; at++) {
    const node = result.snapshotItem(at);
    if (node.nodeType === Node.ELEMENT_NODE) found.push(node);
  }
  return found;
}

/** Whether the element's text matches, and the text of no element inside it does. */
function isDeepest(element, matches) {
  if (isSkipped(element) || !matches(textOf(element))) return false;
  for (const child of (element.shadowRoot ?? element).children) {
    if (!isSkipped(child) && matches(textOf(child))) return false;
  }
  return true;
}

const ofText = (wanted, scope) => {
  const matches = matcher(wanted);
  return [...below(scope)].filter((element) => isDeepest(element, matches));
};

/** Fields by their labels. */
const ofLabel = (wanted, scope) => {
  const matches = matcher(wanted);
  return [...below(scope)].filter((element) => {
    const texts = [...(element.labels ?? [])].map(textOf);
    const label = element.getAttribute('aria-label');
    if (label) texts.push(label);
    texts.push(...ofIds(element, 'aria-labelledby').map(textOf));
    return texts.some((text) => text && matches(text));
  });
};

const ofAttribute = ({ attribute, wanted }, scope) => {
  const matches = matcher(wanted);
  return ofCss(`[${attribute}]`, scope).filter((element) => matches(element.getAttribute(attribute)));
};

const ofRole = (wanted, scope) => {
  const matches = roleMatcher(wanted);
  return [...below(scope)].filter(matches);
};

/** Splits a selector at `>>`, except in quotes. */
function chain(selector) {
  const links = [];
  let quote = null;
  let start = 0;
  for (let at = 0; at < selector.length; at++) {
    const character = selector[at];
    if (character === '\\') at++;
    else if (quote) quote = character === quote ? null : quote;
    else if (character === '"' || character === "'" || character === '`') quote = character;
    else if (character === '>' && selector[at + 1] === '>') {
      links.push(selector.slice(start, at));
      start = at + 2;
      at++;
    }
  }
  links.push(selector.slice(start));
  return links.map((link) => link.trim()).filter(Boolean);
}

/** The elements that a script's selector finds. */
function ofSelector(selector, scope) {
  let found = [scope];
  const links = chain(selector);
  if (links.length === 0) throw new Error('the selector is empty');
  for (const link of links) {
    const [, engine, body] = /^(css|xpath|text|id|data-testid|data-test-id|data-test|nth|visible)\s*=\s*([^]*)$/.exec(link) ?? [];
    if (engine === 'nth') found = nth(found, Number(body));
    else if (engine === 'visible') found = found.filter((element) => isVisible(element) === (body === 'true'));
    else found = inScopes(found, (inside) => ofLink(link, engine, body, inside));
  }
  return found;
}

function ofLink(link, engine, body, scope) {
  switch (engine) {
    case 'css':
      return ofExtendedCss(body, scope);
    case 'xpath':
      return ofXpath(body, scope);
    case 'text':
      return ofText(wantedText(body), scope);
    case 'id': case 'data-testid': case 'data-test-id': case 'data-test':
      return ofCss(`[${engine}=${JSON.stringify(body)}]`, scope);
    default:
      if (/^\(*\.{0,2}\//.test(link)) return ofXpath(link, scope);
      if (/^(["']).*\1$/.test(link)) return ofText(wantedText(link), scope);
      return ofExtendedCss(link, scope);
  }
}

/** A quoted text must match exactly. `/…/` is a regular expression. */
function wantedText(body) {
  const pattern = /^\/(.*)\/([a-z]*)$/.exec(body);
  if (pattern) return { source: pattern[1], flags: pattern[2] };
  if (/^(["']).*\1$/.test(body)) return { text: body.slice(1, -1), exact: true };
  return { text: body, exact: false };
}

const nth = (found, index) => {
  const at = index < 0 ? found.length + index : index;
  return found.slice(at, at + 1);
};

/** The elements that `search` finds in each scope, without duplicates and in document order. */
function inScopes(scopes, search) {
  if (scopes.length === 1) return [...new Set(search(scopes[0]))];
  const found = [...new Set(scopes.flatMap(search))];
  return found.sort((a, b) => (a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
}

function select(parts, root = document) {
  let found = [root];
  for (const part of parts) {
    if (part.nth !== undefined) found = nth(found, part.nth);
    else if (part.hasText) found = found.filter((element) => matcher(part.hasText)(textOf(element)));
    else if (part.hasNotText) found = found.filter((element) => !matcher(part.hasNotText)(textOf(element)));
    else {
      found = inScopes(found, (scope) => {
        if (part.selector !== undefined) return ofSelector(part.selector, scope);
        if (part.role !== undefined) return ofRole(part, scope);
        if (part.label) return ofLabel(part.label, scope);
        if (part.text) return ofText(part.text, scope);
        return ofAttribute(part, scope);
      });
    }
  }
  return found;
}
