// Roles and names of elements for assistive technology: the HTML-AAM mapping, and the steps of the accessible name
// computation that pages use.

const HEADINGS = { H1: 1, H2: 2, H3: 3, H4: 4, H5: 5, H6: 6 };

const INPUT_ROLES = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
  range: 'slider', number: 'spinbutton', file: 'button', color: '', date: '', 'datetime-local': '', month: '', time: '',
  week: '', hidden: '',
};

const TAG_ROLES = {
  ARTICLE: 'article', BLOCKQUOTE: 'blockquote', BUTTON: 'button', CAPTION: 'caption', CODE: 'code', DATALIST: 'listbox',
  DD: 'definition', DEL: 'deletion', DETAILS: 'group', DFN: 'term', DIALOG: 'dialog', DT: 'term', EM: 'emphasis',
  FIELDSET: 'group', FIGURE: 'figure', FORM: 'form', HR: 'separator', HTML: 'document', INS: 'insertion', LI: 'listitem',
  MAIN: 'main', MARK: 'mark', MATH: 'math', MENU: 'list', METER: 'meter', NAV: 'navigation', OL: 'list',
  OPTGROUP: 'group', OPTION: 'option', OUTPUT: 'status', P: 'paragraph', PROGRESS: 'progressbar', SEARCH: 'search',
  STRONG: 'strong', SUB: 'subscript', SUP: 'superscript', SVG: 'img', TABLE: 'table', TBODY: 'rowgroup',
  TEXTAREA: 'textbox', TFOOT: 'rowgroup', THEAD: 'rowgroup', TIME: 'time', TR: 'row', UL: 'list',
};

function roleOf(element) {
  const explicit = (element.getAttribute('role') ?? '').trim().split(/\s+/)[0];
  if (explicit) return explicit;
  const isSectioned = () => element.closest('article, aside, main, nav, section') !== null;
  switch (element.nodeName.toUpperCase()) {
    case 'A':
    case 'AREA':
      return element.hasAttribute('href') ? 'link' : 'generic';
    case 'ASIDE':
      return 'complementary';
    case 'FOOTER':
      return isSectioned() ? 'generic' : 'contentinfo';
    case 'HEADER':
      return isSectioned() ? 'generic' : 'banner';
    case 'H1': case 'H2': case 'H3': case 'H4': case 'H5': case 'H6':
      return 'heading';
    case 'IMG':
      return element.getAttribute('alt') === '' && !element.hasAttribute('title') ? 'presentation' : 'img';
    case 'INPUT': {
      const role = INPUT_ROLES[element.type];
      if (role !== undefined) return role || null;
      if (element.list) return 'combobox';
      return element.type === 'search' ? 'searchbox' : 'textbox';
    }
    case 'SECTION':
      return element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby') ? 'region' : 'generic';
    case 'SELECT':
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'TD':
      return element.closest('[role=grid], [role=treegrid]') ? 'gridcell' : 'cell';
    case 'TH':
      return element.getAttribute('scope') === 'row' ? 'rowheader' : 'columnheader';
    default:
      return TAG_ROLES[element.nodeName.toUpperCase()] ?? null;
  }
}

/** Whether assistive technology ignores the element. */
function isHiddenFromRoles(element) {
  for (let at = element; at instanceof Element; at = at.parentElement ?? at.getRootNode().host) {
    if (at.getAttribute('aria-hidden') === 'true' || isSkipped(at)) return true;
    if (at.nodeName !== 'OPTION' && at.nodeName !== 'OPTGROUP' && getComputedStyle(at).display === 'none') return true;
  }
  return element.nodeName !== 'OPTION' && getComputedStyle(element).visibility !== 'visible';
}

const NAMED_BY_CONTENT = new Set([
  'button', 'cell', 'checkbox', 'columnheader', 'gridcell', 'heading', 'link', 'menuitem', 'menuitemcheckbox',
  'menuitemradio', 'option', 'radio', 'row', 'rowheader', 'switch', 'tab', 'tooltip', 'treeitem',
]);

const ofIds = (element, attribute) =>
  (element.getAttribute(attribute) ?? '').split(/\s+/).filter(Boolean)
    .map((id) => element.getRootNode().getElementById?.(id)).filter(Boolean);

function nameOf(element) {
  const labelledBy = ofIds(element, 'aria-labelledby');
  if (labelledBy.length > 0) return spaced(labelledBy.map((one) => ownName(one) || contentName(one)).join(' '));
  return spaced(ownName(element));
}

function ownName(element) {
  const label = element.getAttribute('aria-label');
  if (label?.trim()) return label;
  const child = (selector) => element.querySelector(`:scope > ${selector}`);
  const tag = element.nodeName.toUpperCase();
  if (tag === 'INPUT' && ['button', 'submit', 'reset', 'image'].includes(element.type)) {
    if (element.type === 'image' && element.alt) return element.alt;
    if (element.value) return element.value;
    if (element.type !== 'button' && !element.title) return element.type === 'reset' ? 'Reset' : 'Submit';
    return element.title;
  }
  if (element.labels?.length > 0) return [...element.labels].map(contentName).join(' ');
  let caption = null;
  if (tag === 'IMG' || tag === 'AREA') caption = element.getAttribute('alt');
  else if (tag === 'FIELDSET') caption = child('legend') && contentName(child('legend'));
  else if (tag === 'FIGURE') caption = child('figcaption') && contentName(child('figcaption'));
  else if (tag === 'TABLE') caption = child('caption') && contentName(child('caption'));
  else if (tag === 'SVG') caption = child('title')?.textContent;
  if (caption?.trim()) return caption;
  if (NAMED_BY_CONTENT.has(roleOf(element))) {
    const text = contentName(element);
    if (text.trim()) return text;
  }
  return element.getAttribute('title') || element.getAttribute('placeholder') || '';
}

/** The text inside the element, with the names of its images and fields. */
function contentName(element) {
  let text = '';
  for (const child of (element.shadowRoot ?? element).childNodes) {
    if (child.nodeType === Node.TEXT_NODE) {
      text += child.nodeValue;
    } else if (child.nodeType === Node.ELEMENT_NODE && !isSkipped(child) && child.getAttribute('aria-hidden') !== 'true'
      && getComputedStyle(child).display !== 'none') {
      const label = child.getAttribute('aria-label') || (child.nodeName === 'IMG' && child.getAttribute('alt'));
      const inner = label || contentName(child);
      const isBlock = !getComputedStyle(child).display.startsWith('inline');
      text += isBlock ? ` ${inner} ` : inner;
    }
  }
  return text;
}

/** The value of `aria-…`, or else that of the element itself. */
function stateOf(element, name) {
  const aria = element.getAttribute(`aria-${name}`);
  switch (name) {
    case 'checked':
      return 'checked' in element && element.nodeName === 'INPUT' ? element.checked : aria === 'true';
    case 'selected':
      return element.nodeName === 'OPTION' ? element.selected : aria === 'true';
    case 'disabled':
      return isDisabled(element);
    case 'expanded':
      return element.nodeName === 'DETAILS' ? element.open : aria === 'true';
    case 'level':
      return HEADINGS[element.nodeName] ?? Number(element.getAttribute('aria-level'));
    default:
      return aria === 'true';
  }
}

const isDisabled = (element) => element.matches(':disabled') || element.closest('[aria-disabled=true]') !== null;

/** Creates a function that tests whether an element has the role and the properties. */
function roleMatcher({ role, name, includeHidden, states }) {
  const isNamed = name && matcher(name);
  return (element) => roleOf(element) === role
    && (includeHidden || !isHiddenFromRoles(element))
    && Object.entries(states).every(([state, wanted]) => stateOf(element, state) === wanted)
    && (!isNamed || isNamed(nameOf(element)));
}
