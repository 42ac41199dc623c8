export default function () {
  for (const name of ['TextEncoder', 'TextDecoder', 'queueMicrotask', 'structuredClone', 'setImmediate', 'AbortController', 'Event', 'EventTarget', 'Headers', 'FormData', 'Blob', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'Intl', 'FinalizationRegistry', 'WeakRef', 'BigInt', 'Reflect', 'Proxy', 'performance', 'self', 'exports', 'module', '__filename', '__dirname', 'escape', 'eval', 'Function', 'Iterator', 'DOMException', 'navigator']) {
    let kind; try { kind = eval(`typeof ${name}`); } catch (e) { kind = 'threw'; }
    console.log(name, kind);
  }
}
