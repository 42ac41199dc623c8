// Actions on an element: wait until the element is ready, then act. All waiting is in the page, so an action costs one
// round trip.

const isEditable = (element) => !isDisabled(element) && !element.readOnly && element.getAttribute('aria-readonly') !== 'true';

const STATES = {
  attached: (element) => element.isConnected,
  visible: isVisible,
  hidden: (element) => !isVisible(element),
  enabled: (element) => !isDisabled(element),
  disabled: isDisabled,
  editable: isEditable,
};

/** The field that a label belongs to, or the element itself. */
function fieldOf(element) {
  if (element.matches('input, textarea, select, [contenteditable]')) return element;
  const label = element.closest('label');
  return label?.control ?? element;
}

const sameBox = (a, b) => a.x === b.x && a.y === b.y && a.width === b.width && a.height === b.height;

/** Changes a field as a user would, so that frameworks notice the change. */
function change(element) {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
}

const TYPED = ['color', 'date', 'datetime-local', 'month', 'range', 'time', 'week'];

/** The actions on an element. They return a value or a promise, and throw errors that waiting cannot fix. */
const ACTIONS = {
  textContent: (element) => element.textContent,
  innerText: (element) => {
    if (!(element instanceof HTMLElement)) throw new Error('Node is not an HTMLElement');
    return element.innerText;
  },
  innerHTML: (element) => element.innerHTML,
  getAttribute: (element, name) => element.getAttribute(name),
  inputValue: (element) => {
    const field = fieldOf(element);
    if (!['INPUT', 'TEXTAREA', 'SELECT'].includes(field.nodeName)) {
      throw new Error('Node is not an <input>, <textarea> or <select> element');
    }
    return field.value;
  },
  isChecked: (element) => isChecked(element),
  isDisabled: (element) => isDisabled(element),
  isEditable: (element) => isEditable(fieldOf(element)),
  isEnabled: (element) => !isDisabled(element),
  isVisible: (element) => isVisible(element),
  isHidden: (element) => !isVisible(element),
  box: (element) => {
    if (!isVisible(element)) return null;
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x, y, width, height };
  },
  keep: (element) => {
    helper.kept = element;
    return null;
  },
  focus: (element) => {
    element.focus();
    return null;
  },
  scroll: (element) => {
    scrollTo(element);
    return null;
  },
  selectText: (element) => {
    if (typeof element.select === 'function') {
      element.select();
      element.focus();
    } else {
      const range = document.createRange();
      range.selectNodeContents(element);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }
    return null;
  },
  dispatchEvent: (element, type, init) => {
    const Kind = EVENTS.find(([pattern]) => pattern.test(type))?.[1] ?? Event;
    element.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, composed: true, ...init }));
    return null;
  },
  fill: (element, value) => {
    const field = fieldOf(element);
    if (field.isContentEditable) {
      field.focus();
      field.textContent = value;
    } else if (field.nodeName === 'INPUT' || field.nodeName === 'TEXTAREA') {
      const type = field.nodeName === 'INPUT' ? field.type : 'text';
      if (['checkbox', 'radio', 'file', 'button', 'submit', 'reset', 'image'].includes(type)) {
        throw new Error('input of this type cannot be filled');
      }
      const text = TYPED.includes(type) ? value.trim() : value;
      if (type === 'number' && Number.isNaN(Number(text.trim()))) {
        throw new Error('Cannot type text into input[type=number]');
      }
      field.focus();
      // Use the prototype's setter: frameworks replace the setter of the element.
      const prototype = field.nodeName === 'INPUT' ? HTMLInputElement.prototype : HTMLTextAreaElement.prototype;
      Object.getOwnPropertyDescriptor(prototype, 'value').set.call(field, text);
      if (TYPED.includes(type) && field.value !== text) throw new Error('Malformed value');
    } else {
      throw new Error('Element is not an <input>, <textarea> or [contenteditable] element');
    }
    change(field);
    return null;
  },
  selectOption: (element, wanted) => {
    const field = fieldOf(element);
    if (field.nodeName !== 'SELECT') throw new Error('Element is not a <select> element');
    const options = [...field.options];
    const matches = (option, one) => (one instanceof Element
      ? option === one
      : (one.valueOrLabel === undefined || option.value === one.valueOrLabel || spaced(option.label) === spaced(one.valueOrLabel))
        && (one.value === undefined || option.value === one.value)
        && (one.label === undefined || spaced(option.label) === spaced(one.label))
        && (one.index === undefined || option.index === one.index));
    const chosen = [];
    for (const one of wanted) {
      const option = options.find((each) => !chosen.includes(each) && matches(each, one));
      if (option) chosen.push(option);
      if (!field.multiple && chosen.length > 0) break;
    }
    field.focus();
    for (const option of options) option.selected = chosen.includes(option);
    if (chosen.length === 0) field.selectedIndex = -1;
    change(field);
    return chosen.map((option) => option.value);
  },
  setInputFiles: (element, files) => {
    const field = fieldOf(element);
    if (field.nodeName !== 'INPUT' || field.type !== 'file') throw new Error('Node is not an <input type="file"> element');
    if (files.length > 1 && !field.multiple) throw new Error('Non-multiple file input can only accept single file');
    const transfer = new DataTransfer();
    for (const { name, mimeType, base64 } of files) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      transfer.items.add(new File([bytes], name, { type: mimeType }));
    }
    field.files = transfer.files;
    change(field);
    return null;
  },
  /** The point to click at in this frame's viewport. A press there that does not hit the element has no effect. */
  point: (element, position, force, presses) => {
    scrollTo(element);
    const box = [...element.getClientRects()].find((each) => each.width > 0 && each.height > 0);
    if (!box) throw new NotYet('the element has no size');
    const point = position
      ? { x: element.getBoundingClientRect().x + position.x, y: element.getBoundingClientRect().y + position.y }
      : { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    if (point.x < 0 || point.y < 0 || point.x >= innerWidth || point.y >= innerHeight) {
      if (!force) throw new NotYet('the element is outside of the viewport');
    } else if (!force) {
      const cover = coverOf(element, point);
      if (cover) throw new NotYet(`${shown(cover)} intercepts pointer events`);
      if (presses) guard(element);
    }
    return point;
  },
  /** Whether a checkbox already has the state. */
  needsCheck: (element, wanted) => isChecked(element) !== wanted,
};

function isChecked(element) {
  const field = fieldOf(element);
  if (field.nodeName === 'INPUT' && ['checkbox', 'radio'].includes(field.type)) return field.checked;
  if (['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'option', 'treeitem'].includes(roleOf(element))) {
    return element.getAttribute('aria-checked') === 'true';
  }
  throw new Error('Not a checkbox or radio button');
}

function scrollTo(element) {
  const box = element.getBoundingClientRect();
  if (box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth) return;
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
}

/** The element that would get a click at that point instead of `element`, or null. */
function coverOf(element, point) {
  let hit = document.elementFromPoint(point.x, point.y);
  while (hit?.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(point.x, point.y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  const isOurs = (at) => {
    for (; at; at = at.parentElement ?? at.getRootNode()?.host) {
      if (at === element || element.contains(at)) return true;
      if (at.nodeName === 'LABEL' && at.control === element) return true;
    }
    return false;
  };
  if (!hit || isOurs(hit)) return null;
  // The label may cover the field, or the field the label.
  if (element.nodeName === 'LABEL' && element.control === hit) return null;
  return hit;
}

const shown = (element) => {
  const id = element.id ? ` id="${element.id}"` : '';
  return `<${element.nodeName.toLowerCase()}${id}>`;
};

const EVENTS = [
  [/^(click|dblclick|aux|contextmenu|mouse)/, MouseEvent],
  [/^pointer/, PointerEvent],
  [/^key/, KeyboardEvent],
  [/^(focus|blur)/, FocusEvent],
  [/^(drag|drop)/, DragEvent],
  [/^touch/, globalThis.TouchEvent ?? UIEvent],
  [/^wheel/, WheelEvent],
  [/^(input|beforeinput)$/, InputEvent],
];

/** Thrown to try again later. */
class NotYet extends Error {}

/** The element of a target. Throws if there is none yet. */
function resolve(target, root, strict) {
  if (target instanceof Node) {
    if (!target.isConnected) throw new Error('Element is not attached to the DOM');
    return target;
  }
  const found = select(target, root ?? document);
  if (strict && found.length > 1) {
    throw new Error(`strict mode violation, multiple elements returned for selector query: ${found.length} elements`);
  }
  if (found.length === 0) throw new NotYet('no element matches');
  return found[0];
}

async function ready(element, states) {
  const target = states.includes('editable') ? fieldOf(element) : element;
  for (const state of states) {
    if (state !== 'stable' && !STATES[state](target)) throw new NotYet(`the element is not ${state}`);
  }
  if (states.includes('stable')) {
    const before = element.getBoundingClientRect();
    await nextFrame();
    if (!sameBox(before, element.getBoundingClientRect())) throw new NotYet('the element is moving');
  }
}

/** Repeats `attempt` until it no longer throws NotYet, for at most `timeout` milliseconds. */
async function repeat(timeout, attempt) {
  const deadline = performance.now() + timeout;
  for (let pause = 0; ; pause = Math.min(pause + 10, 100)) {
    try {
      return { value: await attempt() };
    } catch (error) {
      if (!(error instanceof NotYet)) return { failure: error.message };
      if (performance.now() >= deadline) return { late: error.message };
    }
    await (pause === 0 ? nextFrame() : new Promise((resolve) => later(resolve, pause)));
  }
}

const helper = {
  kept: null,
  count: (parts, root) => select(parts, root ?? document).length,
  all: (parts, root) => select(parts, root ?? document),
  take: () => {
    const { kept } = helper;
    helper.kept = null;
    return kept;
  },
  missed,
  /** Acts on `target`, an element or the parts of a locator, as soon as it has the states. */
  act: (target, root, action, args, { timeout, strict, states }) => repeat(timeout, async () => {
    const element = resolve(target, root, strict);
    await ready(element, states);
    return ACTIONS[action](element, ...args);
  }),
  /** Like `act`, but does not wait: without an element, it returns `without`. */
  now: (target, root, action, without, strict) => repeat(0, async () => {
    const found = select(target, root ?? document);
    if (strict && found.length > 1) throw new Error('strict mode violation, multiple elements returned for selector query');
    return found.length === 0 ? without : ACTIONS[action](found[0]);
  }),
  /** Waits until the target has the state. Returns true if there is an element then, and keeps that element. */
  until: (target, root, state, { timeout, strict }) => repeat(timeout, async () => {
    helper.kept = null;
    let element;
    try {
      element = resolve(target, root, strict);
    } catch (error) {
      if (state === 'detached' || state === 'hidden') {
        if (error instanceof NotYet || target instanceof Node) return false;
      }
      throw error;
    }
    if (state === 'detached') throw new NotYet('the element is still attached');
    if (state === 'stable') await ready(element, ['stable']);
    else if (!STATES[state](state === 'editable' ? fieldOf(element) : element)) throw new NotYet(`the element is not ${state}`);
    helper.kept = element;
    return true;
  }),
};
