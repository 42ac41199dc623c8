const names = 'setTimeout clearTimeout setInterval clearInterval atob btoa URL URLSearchParams fetch crypto console require global globalThis window self open __ENV __VU __ITER process Buffer performance structuredClone AbortController Event EventTarget Headers Request Response Blob File FormData ReadableStream WritableStream TransformStream WebSocket XMLHttpRequest navigator escape unescape eval Intl BigInt Proxy Reflect Symbol SubtleCrypto'.split(' ');
const types = () => names.map((name) => { try { return name + ' ' + typeof eval(name); } catch (e) { return name + ' ' + e.name; } });
console.log(types().join());
export default function () { console.log(types().join()); }
