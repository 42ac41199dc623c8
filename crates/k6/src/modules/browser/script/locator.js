// Actions on elements, and the objects that have them: locators, frames, pages and element handles.

const PATIENT = 2 ** 31;

/** The frame that contains a target, and the rest of the target's parts in that frame. Finds the frames on the way. */
async function located(target, deadline, what) {
  let { frame, parts, root } = target;
  if (target.element) return { frame, subject: target.element, root };
  for (;;) {
    const at = parts.findIndex((part) => part.frame);
    if (at < 0) return { frame, subject: parts, root };
    const outer = { frame, parts: parts.slice(0, at), root, strict: target.strict, shown: target.shown };
    const left = Math.max(deadline - Date.now(), 1);
    const owner = await waitUntil(outer, 'attached', { timeout: left }, what);
    const inner = await frame.owner.frameOf(owner);
    if (!inner) throw new Error(`${what}: the element is not an <iframe>`);
    [frame, parts, root] = [inner, parts.slice(at + 1), undefined];
  }
}

const deadlineOf = (timeout) => Date.now() + (timeout > 0 ? timeout : PATIENT);

/** Calls a function of the helper. Calls it again if the page navigates meanwhile. */
async function attempt(target, timeout, what, call, deadline = deadlineOf(timeout)) {
  for (;;) {
    try {
      const { frame, subject, root } = await located(target, deadline, what);
      const left = Math.max(deadline - Date.now(), 0);
      const outcome = await call(frame, subject, root, left);
      if (outcome.failure !== undefined) throw new Error(`${what}: ${outcome.failure}`);
      if (outcome.late !== undefined) throw new TimedOut(`${what}: timed out after ${timeout}ms: ${outcome.late}`);
      return { value: outcome.value, frame };
    } catch (error) {
      if (error instanceof TimedOut && error.method) {
        throw new TimedOut(`${what}: timed out after ${timeout}ms: the page does not respond`);
      }
      if (!isStale(error)) throw error;
      if (target.element) throw new Error(`${what}: Element is not attached to the DOM: the page has navigated`);
      if (Date.now() >= deadline) throw new TimedOut(`${what}: timed out after ${timeout}ms: the page navigates`);
      await delay(20);
    }
  }
}

/** How long to wait for the response. After that, the page is busy and will not respond. */
const GRACE = 2000;

/** Waits until the target is ready, and then acts on it in the page. */
async function act(target, action, args, { timeout, states = [], strict = target.strict }, what) {
  const { value } = await attempt(target, timeout, what, (frame, subject, root, left) =>
    frame.call('act', [subject, root, action, args, { timeout: left, strict, states }], left + GRACE));
  return value;
}

/** Waits for a state. Returns the element, or null if there is none then. */
async function waitUntil(target, state, options, what) {
  const timeout = timeoutOf(options, target.frame.owner);
  const strict = options?.strict ?? target.strict;
  const { value, frame } = await attempt(target, timeout, what, (inside, subject, root, left) =>
    inside.call('until', [subject, root, state, { timeout: left, strict }], left + GRACE));
  return value ? frame.take() : null;
}

const POINTER = ['visible', 'enabled', 'stable'];
const statesOf = (options, states) => (options?.force ? [] : states);

/**
 * Moves to the target and calls `then` at that point. With `presses`, repeats this if the target has moved away before
 * the press, because pages move elements at any time.
 */
async function pointAt(target, options, what, then, presses = true) {
  const { owner: page } = target.frame;
  const timeout = timeoutOf(options, page);
  const deadline = deadlineOf(timeout);
  const trial = Boolean(options?.trial);
  for (;;) {
    const args = [options?.position, Boolean(options?.force), presses && !trial];
    const { value: point, frame } = await attempt(target, timeout, what, (inside, subject, root, left) =>
      inside.call('act', [subject, root, 'point', args, {
        timeout: left, strict: options?.strict ?? target.strict, states: statesOf(options, POINTER),
      }], left + GRACE), deadline);
    if (trial) return;
    const offset = await frame.offset();
    const modifiers = options?.modifiers ?? [];
    const helper = await frame.helper();
    for (const modifier of modifiers) await page.keyboard.down(modifier);
    try {
      await then(page, point.x + offset.x, point.y + offset.y);
    } finally {
      for (const modifier of modifiers) await page.keyboard.up(modifier);
    }
    const cover = presses ? await missed(helper) : null;
    if (cover === null) return;
    if (Date.now() >= deadline) throw new TimedOut(`${what}: timed out after ${timeout}ms: ${cover} intercepts pointer events`);
  }
}

/** What a press hit instead of its target, or null. Also null if the press ended the page or keeps it busy. */
async function missed({ world, objectId }) {
  try {
    const { result } = await world.session.send('Runtime.callFunctionOn', {
      functionDeclaration: 'function () { return this.missed(); }', objectId, returnByValue: true,
    }, GRACE);
    return result.value ?? null;
  } catch (error) {
    if (error instanceof Closed || error instanceof TimedOut || isStale(error)) return null;
    throw error;
  }
}

/** Waits for the response to an input event. A page may end or navigate because of it, and then there is no response. */
async function unlessGone(promise) {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof Closed) || wire.failure) throw error;
  }
}

const reading = (action) => (target, ...rest) => {
  const args = action === 'getAttribute' ? [String(rest.shift())] : [];
  const [options] = rest;
  return act(target, action, args, { timeout: timeoutOf(options, target.frame.owner), strict: options?.strict ?? target.strict },
    `${READING[action]} of ${target.shown}`);
};

/** The names of the actions in k6's error messages. */
const READING = {
  textContent: 'getting text content', innerText: 'getting inner text', innerHTML: 'getting inner HTML',
  inputValue: 'getting input value', getAttribute: 'getting attribute', isChecked: 'checking the checked state',
  isDisabled: 'checking the disabled state', isEditable: 'checking the editable state', isEnabled: 'checking the enabled state',
};

const looking = (action, without) => async (target, options) => {
  const what = `${action} of ${target.shown}`;
  const { value } = await attempt(target, timeoutOf(options, target.frame.owner), what, (frame, subject, root) =>
    (target.element
      ? frame.call('act', [subject, root, action, [], { timeout: 0, states: [] }], GRACE)
      : frame.call('now', [subject, root, action, without, options?.strict ?? target.strict], GRACE)));
  return value;
};

async function setChecked(target, wanted, options, what) {
  const timeout = timeoutOf(options, target.frame.owner);
  const strict = options?.strict ?? target.strict;
  const needs = () => act(target, 'needsCheck', [wanted], { timeout, strict }, what);
  if (!(await needs())) return;
  await pointAt(target, options, what, (page, x, y) => page.mouse.click(x, y));
  if (!options?.trial && (await needs())) throw new Error(`${what}: Clicking the checkbox did not change its state`);
}

const fileOf = ({ name, mimeType, buffer }) => ({ name, mimeType, base64: native.base64OfBytes(buffer) });

/** The argument of `selectOption`, in the form for the page. */
async function optionOf(wanted) {
  if (wanted instanceof ElementHandle) return { value: await wanted.evaluate('(option) => option.value') };
  if (typeof wanted === 'string') return { valueOrLabel: wanted };
  if (wanted && typeof wanted === 'object') return wanted;
  throw new TypeError('selectOption: an option is a text, an object with value, label or index, or an element');
}

/** All actions by name. The first argument is the target. */
const ACTIONS = {
  async click(target, options) {
    const { button, clickCount, delay: pause } = options ?? {};
    await unlessGone(pointAt(target, options, `clicking on ${target.shown}`, (page, x, y) =>
      page.mouse.click(x, y, { button, clickCount, delay: pause })));
  },
  async dblclick(target, options) {
    const { button, delay: pause } = options ?? {};
    await unlessGone(pointAt(target, options, `double clicking on ${target.shown}`, (page, x, y) =>
      page.mouse.dblclick(x, y, { button, delay: pause })));
  },
  async hover(target, options) {
    await pointAt(target, options, `hovering on ${target.shown}`, (page, x, y) => page.mouse.move(x, y), false);
  },
  async tap(target, options) {
    await unlessGone(pointAt(target, options, `tapping ${target.shown}`, (page, x, y) => page.touchscreen.tap(x, y)));
  },
  check: (target, options) => setChecked(target, true, options, `checking ${target.shown}`),
  uncheck: (target, options) => setChecked(target, false, options, `unchecking ${target.shown}`),
  setChecked: (target, wanted, options) => setChecked(target, Boolean(wanted), options, `setting the checked state of ${target.shown}`),
  async fill(target, value, options) {
    const states = statesOf(options, ['visible', 'enabled', 'editable']);
    await act(target, 'fill', [String(value)], { timeout: timeoutOf(options, target.frame.owner), states, strict: options?.strict ?? target.strict },
      `filling ${target.shown} with ${JSON.stringify(String(value))}`);
  },
  clear: (target, options) => ACTIONS.fill(target, '', options),
  async focus(target, options) {
    await act(target, 'focus', [], { timeout: timeoutOf(options, target.frame.owner), strict: options?.strict ?? target.strict },
      `focusing on ${target.shown}`);
  },
  async press(target, key, options) {
    await ACTIONS.focus(target, options);
    await unlessGone(target.frame.owner.keyboard.press(String(key), options));
  },
  async type(target, text, options) {
    await ACTIONS.focus(target, options);
    await unlessGone(target.frame.owner.keyboard.type(text, options));
  },
  pressSequentially: (target, text, options) => ACTIONS.type(target, text, options),
  async selectOption(target, values, options) {
    const list = [];
    for (const value of Array.isArray(values) ? values : [values]) list.push(await optionOf(value));
    const states = statesOf(options, ['visible', 'enabled']);
    return act(target, 'selectOption', [list], { timeout: timeoutOf(options, target.frame.owner), states, strict: options?.strict ?? target.strict },
      `selecting an option of ${target.shown}`);
  },
  async selectText(target, options) {
    await act(target, 'selectText', [], { timeout: timeoutOf(options, target.frame.owner), states: statesOf(options, ['visible']) },
      `selecting the text of ${target.shown}`);
  },
  async setInputFiles(target, files, options) {
    const list = (Array.isArray(files) ? files : [files]).map(fileOf);
    await act(target, 'setInputFiles', [list], { timeout: timeoutOf(options, target.frame.owner), strict: options?.strict ?? target.strict },
      `setting the files of ${target.shown}`);
  },
  async dispatchEvent(target, type, init, options) {
    await act(target, 'dispatchEvent', [String(type), init ?? {}], { timeout: timeoutOf(options, target.frame.owner), strict: options?.strict ?? target.strict },
      `dispatching an event to ${target.shown}`);
  },
  async scrollIntoViewIfNeeded(target, options) {
    await act(target, 'scroll', [], { timeout: timeoutOf(options, target.frame.owner), states: statesOf(options, ['stable']) },
      `scrolling to ${target.shown}`);
  },
  async boundingBox(target, options) {
    const { value: box, frame } = await attempt(target, timeoutOf(options, target.frame.owner), `the box of ${target.shown}`,
      (inside, subject, root, left) => inside.call('act', [subject, root, 'box', [], { timeout: left, strict: target.strict, states: [] }], left + GRACE));
    if (!box) return null;
    const offset = await frame.offset();
    return { ...box, x: box.x + offset.x, y: box.y + offset.y };
  },
  textContent: reading('textContent'),
  innerText: reading('innerText'),
  innerHTML: reading('innerHTML'),
  inputValue: reading('inputValue'),
  getAttribute: reading('getAttribute'),
  isChecked: reading('isChecked'),
  isDisabled: reading('isDisabled'),
  isEditable: reading('isEditable'),
  isEnabled: reading('isEnabled'),
  isVisible: looking('isVisible', false),
  isHidden: looking('isHidden', true),
};

/** The part of a locator for a text or a regular expression. */
const wantedOf = (wanted, options) => (wanted instanceof RegExp
  ? { source: wanted.source, flags: wanted.flags }
  : { text: String(wanted), exact: Boolean(options?.exact) });

/** The methods that create locators, by the parts that they add. */
const SEARCHES = {
  locator(selector, options) {
    if (selector === undefined || selector === null || selector === '') throw new TypeError('locator requires a selector');
    return [{ selector: String(selector) }, ...filterParts(options)];
  },
  getByText: (text, options) => [{ text: wantedOf(text, options) }],
  getByLabel: (text, options) => [{ label: wantedOf(text, options) }],
  getByAltText: (text, options) => [{ attribute: 'alt', wanted: wantedOf(text, options) }],
  getByTitle: (text, options) => [{ attribute: 'title', wanted: wantedOf(text, options) }],
  getByPlaceholder: (text, options) => [{ attribute: 'placeholder', wanted: wantedOf(text, options) }],
  getByTestId: (id) => [{ attribute: 'data-testid', wanted: wantedOf(id, { exact: true }) }],
  getByRole(role, { name, exact, includeHidden = false, ...states } = {}) {
    return [{ role: String(role), name: name === undefined ? undefined : wantedOf(name, { exact }), includeHidden, states }];
  },
};

function filterParts({ hasText, hasNotText } = {}) {
  const parts = [];
  if (hasText !== undefined && hasText !== null) parts.push({ hasText: wantedOf(hasText) });
  if (hasNotText !== undefined && hasNotText !== null) parts.push({ hasNotText: wantedOf(hasNotText) });
  return parts;
}

/** Finds elements each time it is used. */
class Locator {
  constructor(frame, parts, shown) {
    this.target = { frame, parts, strict: true, shown };
  }

  with(parts, shown) {
    const { target } = this;
    return new Locator(target.frame, [...target.parts, ...parts], `${target.shown}${shown}`);
  }

  first() {
    return this.nth(0);
  }

  last() {
    return this.nth(-1);
  }

  nth(index) {
    return this.with([{ nth: Number(index) }], ` >> nth=${index}`);
  }

  filter(options) {
    return this.with(filterParts(options), ' (filtered)');
  }

  contentFrame() {
    return new FrameLocator(this);
  }

  async count() {
    const { frame, subject, root } = await located(this.target, Date.now() + this.target.frame.owner.defaultTimeout(), 'count');
    return frame.call('count', [subject, root]);
  }

  async all() {
    const count = await this.count();
    return Array.from({ length: count }, (_, index) => this.nth(index));
  }

  async element(options, what) {
    return waitUntil(this.target, 'attached', options, what);
  }

  async evaluate(pageFunction, argument, options) {
    const element = await this.element(options, `evaluate of ${this.target.shown}`);
    try {
      return await element.evaluate(pageFunction, argument);
    } finally {
      element.dispose();
    }
  }

  async evaluateHandle(pageFunction, argument, options) {
    const element = await this.element(options, `evaluateHandle of ${this.target.shown}`);
    return element.evaluateHandle(pageFunction, argument);
  }

  async waitFor(options) {
    const state = options?.state ?? 'visible';
    checkState(state, 'waitFor');
    const element = await waitUntil(this.target, state, options, `waiting for ${this.target.shown} to be ${state}`);
    element?.dispose();
  }

  toString() {
    return `Locator@${this.target.shown}`;
  }
}

const checkState = (state, what) => {
  if (!['attached', 'detached', 'visible', 'hidden'].includes(state)) {
    throw new Error(`${what}: "${state}" is not one of attached, detached, visible and hidden`);
  }
};

/** Creates locators inside an <iframe>. */
class FrameLocator {
  constructor(owner) {
    this.inside = owner.with([{ frame: true }], '');
  }
}

/** Adds the methods for actions and searches to a class. */
function install(type, targetOf, withActions) {
  for (const [name, search] of Object.entries(SEARCHES)) {
    if (type === ElementHandle) continue;
    define(type, name, function (...args) {
      const shown = `"${name === 'locator' ? args[0] : `${name}(${args[0]})`}"`;
      const base = type === FrameLocator ? this.inside : this;
      if (base instanceof Locator) return base.with(search(...args), ` >> ${shown}`);
      return new Locator(targetOf(this).frame, search(...args), shown);
    });
  }
  if (!withActions) return;
  for (const [name, action] of Object.entries(ACTIONS)) {
    define(type, name, withActions === 'selector'
      ? async function (selector, ...args) {
        if (typeof selector !== 'string') throw new TypeError(`${name} requires a selector`);
        return action({ frame: targetOf(this).frame, parts: [{ selector }], strict: false, shown: `"${selector}"` }, ...args);
      }
      : async function (...args) {
        return action({ shown: 'the element', strict: false, ...targetOf(this) }, ...args);
      });
  }
}

function define(type, name, value) {
  if (Object.hasOwn(type.prototype, name)) return;
  Object.defineProperty(type.prototype, name, { value, configurable: true, writable: true, enumerable: false });
}

install(Locator, (locator) => locator.target, 'target');
install(FrameLocator, () => null, null);
install(ElementHandle, (element) => element.target, 'target');
install(Frame, (frame) => ({ frame }), 'selector');
