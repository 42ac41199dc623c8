// Keyboard, mouse and touchscreen of a page.

/** Keys that are not characters: code, virtual key code, text. */
const KEYS = {
  Backspace: [8], Tab: [9], Enter: [13, '\r'], Escape: [27], Space: [32, ' '], PageUp: [33], PageDown: [34], End: [35],
  Home: [36], ArrowLeft: [37], ArrowUp: [38], ArrowRight: [39], ArrowDown: [40], Insert: [45], Delete: [46],
  ShiftLeft: [16], ShiftRight: [16], ControlLeft: [17], ControlRight: [17], AltLeft: [18], AltRight: [18],
  MetaLeft: [91], MetaRight: [92], CapsLock: [20], NumLock: [144], ScrollLock: [145], ContextMenu: [93], Pause: [19],
  PrintScreen: [44], NumpadEnter: [13, '\r'],
};
for (let number = 1; number <= 24; number++) KEYS[`F${number}`] = [111 + number];

/** Characters with their codes on a US keyboard, without and with Shift. */
const SYMBOLS = {
  Backquote: '`~', Digit1: '1!', Digit2: '2@', Digit3: '3#', Digit4: '4$', Digit5: '5%', Digit6: '6^', Digit7: '7&',
  Digit8: '8*', Digit9: '9(', Digit0: '0)', Minus: '-_', Equal: '=+', BracketLeft: '[{', BracketRight: ']}',
  Backslash: '\\|', Semicolon: ';:', Quote: '\'"', Comma: ',<', Period: '.>', Slash: '/?',
};
const SYMBOL_CODES = {
  Backquote: 192, Minus: 189, Equal: 187, BracketLeft: 219, BracketRight: 221, Backslash: 220, Semicolon: 186, Quote: 222,
  Comma: 188, Period: 190, Slash: 191,
};
for (let code = 65; code <= 90; code++) {
  const letter = String.fromCharCode(code);
  SYMBOLS[`Key${letter}`] = letter.toLowerCase() + letter;
}
const MODIFIERS = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

/** The key, code, virtual key code and text of a key. Undefined for an unknown key. */
function keyOf(name, isShifted) {
  const modifier = name in MODIFIERS ? `${name}Left` : name;
  const special = KEYS[modifier];
  if (special) {
    const key = modifier === 'Space' ? ' ' : modifier.replace(/(Left|Right)$/, (side) => (modifier.startsWith('Arrow') ? side : ''));
    return { key: modifier === 'NumpadEnter' ? 'Enter' : key, code: modifier, virtual: special[0], text: special[1] };
  }
  for (const [code, pair] of Object.entries(SYMBOLS)) {
    const at = code === name ? Number(isShifted) : pair.indexOf(name);
    if ((code === name || name.length === 1) && at >= 0) {
      const virtual = SYMBOL_CODES[code] ?? pair.charCodeAt(code.startsWith('Key') ? 1 : 0);
      const text = isShifted && name.length === 1 && at === 0 ? pair[1] : pair[at];
      return { key: text, code, virtual, text };
    }
  }
  return name === ' ' ? keyOf('Space', false) : undefined;
}

class Keyboard {
  constructor(page) {
    this.session = page.session;
    this.held = new Set();
  }

  get modifiers() {
    return [...this.held].reduce((sum, key) => sum | (MODIFIERS[key] ?? 0), 0);
  }

  async down(name) {
    const key = keyOf(name, this.held.has('Shift'));
    if (!key) throw new Error(`key "${name}" is unknown; names of keys are those of the DOM, such as Enter, ArrowDown or a`);
    const autoRepeat = this.held.has(key.key);
    this.held.add(key.key);
    // With Control, Alt or Meta, a key is a command and enters no text.
    const text = this.modifiers & ~MODIFIERS.Shift ? undefined : key.text;
    await this.session.send('Input.dispatchKeyEvent', {
      type: text ? 'keyDown' : 'rawKeyDown', modifiers: this.modifiers, windowsVirtualKeyCode: key.virtual, code: key.code,
      key: key.key, text, unmodifiedText: text, autoRepeat, commands: this.commands(key.code),
    });
  }

  /** Editing commands that otherwise the system's menus send. */
  commands(code) {
    if (this.modifiers !== MODIFIERS.Control && this.modifiers !== MODIFIERS.Meta) return [];
    return { KeyA: ['selectAll'], KeyC: ['copy'], KeyV: ['paste'], KeyX: ['cut'], KeyZ: ['undo'] }[code] ?? [];
  }

  async up(name) {
    const key = keyOf(name, this.held.has('Shift'));
    if (!key) throw new Error(`key "${name}" is unknown`);
    this.held.delete(key.key);
    await this.session.send('Input.dispatchKeyEvent', {
      type: 'keyUp', modifiers: this.modifiers, windowsVirtualKeyCode: key.virtual, code: key.code, key: key.key,
    });
  }

  /** `a`, `Enter`, `Control+a`, `Shift++`. */
  async press(combination, { delay: pause = 0 } = {}) {
    const names = combination === '+' ? ['+'] : combination.split(/(?<=.)\+(?=.)/).map((name) =>
      (name === 'ControlOrMeta' ? 'Control' : name));
    for (const name of names) await this.down(name);
    if (pause > 0) await delay(pause);
    for (const name of names.reverse()) await this.up(name);
  }

  async insertText(text) {
    await this.session.send('Input.insertText', { text: String(text) });
  }

  async type(text, { delay: pause = 0 } = {}) {
    for (const character of String(text)) {
      const name = character === '\n' ? 'Enter' : character;
      if (keyOf(name, false)) await this.press(name === '+' ? '+' : name);
      else await this.insertText(character);
      if (pause > 0) await delay(pause);
    }
  }
}

const BUTTONS = { left: 1, right: 2, middle: 4 };

class Mouse {
  constructor(page) {
    this.page = page;
    this.x = 0;
    this.y = 0;
    this.buttons = 0;
  }

  send(type, more) {
    return this.page.session.send('Input.dispatchMouseEvent', {
      type, x: this.x, y: this.y, modifiers: this.page.keyboard.modifiers, buttons: this.buttons, ...more,
    });
  }

  async move(x, y, { steps = 1 } = {}) {
    const from = { x: this.x, y: this.y };
    for (let step = 1; step <= steps; step++) {
      this.x = from.x + ((x - from.x) * step) / steps;
      this.y = from.y + ((y - from.y) * step) / steps;
      await this.send('mouseMoved', { button: this.buttons ? 'left' : 'none' });
    }
  }

  async down({ button = 'left', clickCount = 1 } = {}) {
    this.buttons |= BUTTONS[button] ?? 1;
    await this.send('mousePressed', { button, clickCount });
  }

  async up({ button = 'left', clickCount = 1 } = {}) {
    this.buttons &= ~(BUTTONS[button] ?? 1);
    await this.send('mouseReleased', { button, clickCount });
  }

  async click(x, y, { button = 'left', clickCount = 1, delay: pause = 0 } = {}) {
    await this.move(x, y);
    for (let count = 1; count <= clickCount; count++) {
      await this.down({ button, clickCount: count });
      if (pause > 0) await delay(pause);
      await this.up({ button, clickCount: count });
    }
  }

  dblclick(x, y, options) {
    return this.click(x, y, { ...options, clickCount: 2 });
  }
}

class Touchscreen {
  constructor(page) {
    this.page = page;
  }

  async tap(x, y) {
    const { modifiers } = this.page.keyboard;
    await this.page.session.send('Input.dispatchTouchEvent', { type: 'touchStart', modifiers, touchPoints: [{ x, y }] });
    await this.page.session.send('Input.dispatchTouchEvent', { type: 'touchEnd', modifiers, touchPoints: [] });
  }
}
