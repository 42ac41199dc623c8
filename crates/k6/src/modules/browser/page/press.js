// Blocks a press if the element has moved away from the point since the point was computed.

const PRESS_EVENTS = [
  'pointerdown', 'mousedown', 'touchstart', 'pointerup', 'mouseup', 'touchend', 'click', 'auxclick', 'dblclick', 'contextmenu',
];

/** The expected press: what it hit instead of the element (null: the element), and how to stop listening. */
let expected = null;

/** Watches for the next press, which is meant for `element`. */
function guard(element) {
  expected?.end();
  const press = { cover: undefined, end: null };
  const listener = (event) => {
    if (!event.isTrusted) return;
    if (press.cover === undefined) press.cover = coverOf(element, { x: event.clientX, y: event.clientY });
    if (press.cover) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  for (const type of PRESS_EVENTS) addEventListener(type, listener, { capture: true, passive: false });
  press.end = () => {
    for (const type of PRESS_EVENTS) removeEventListener(type, listener, { capture: true });
    expected = null;
  };
  expected = press;
}

/** Stops watching. Returns what the press hit instead of the element, or null. */
function missed() {
  const cover = expected?.cover;
  expected?.end();
  return cover ? shown(cover) : null;
}
