// Texts of elements, and how to compare them.

const later = globalThis.setTimeout.bind(globalThis);
const nextFrame = () => new Promise((resolve) => {
  // A page in the background paints no frames.
  globalThis.requestAnimationFrame?.(() => resolve());
  later(resolve, 50);
});

const spaced = (text) => text.replace(/\u200b/g, '').replace(/\s+/g, ' ').trim();

/** Creates a function that matches a text against `{ text, exact }` or the regular expression `{ source, flags }`. */
function matcher(wanted) {
  if (wanted.source !== undefined) {
    const pattern = new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, ''));
    return (text) => pattern.test(text) || pattern.test(spaced(text));
  }
  const normal = spaced(wanted.text);
  if (wanted.exact) return (text) => spaced(text) === normal;
  const lower = normal.toLowerCase();
  return (text) => spaced(text).toLowerCase().includes(lower);
}

/** The text of an element for text selectors, with the labels of its buttons. */
function textOf(element) {
  if (isSkipped(element)) return '';
  if (element instanceof HTMLInputElement && ['submit', 'button', 'reset'].includes(element.type)) return element.value;
  let text = '';
  for (const child of (element.shadowRoot ?? element).childNodes) {
    if (child.nodeType === Node.TEXT_NODE) text += child.nodeValue;
    else if (child.nodeType === Node.ELEMENT_NODE) text += textOf(child);
  }
  return text;
}

const isSkipped = (element) => ['SCRIPT', 'NOSCRIPT', 'STYLE', 'HEAD', 'TEMPLATE'].includes(element.nodeName);

/** Whether a user can see the element: it has a box and is not hidden. */
function isVisible(element) {
  if (!element.isConnected) return false;
  const style = getComputedStyle(element);
  if (style.display === 'contents') {
    for (const child of element.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE && isVisible(child)) return true;
      if (child.nodeType === Node.TEXT_NODE) {
        const range = document.createRange();
        range.selectNode(child);
        const box = range.getBoundingClientRect();
        if (box.width > 0 && box.height > 0) return true;
      }
    }
    return false;
  }
  // For closed <details> and content-visibility.
  if (element.checkVisibility && !element.checkVisibility()) return false;
  if (style.visibility !== 'visible') return false;
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
}
