const described = (name) => {
  const found = Object.getOwnPropertyDescriptor(globalThis, name);
  return found ? [name, found.enumerable, found.configurable].join(' ') : `${name} none`;
};
console.log(Object.keys(globalThis).sort().join());
console.log(['crypto', 'console', 'open', 'require', 'setTimeout', '__ENV', '__VU', '__ITER', 'Math', 'globalThis'].map(described).join());
console.log(Object.keys(crypto).join(), Object.keys(crypto.subtle).sort().join());
export default function () {
  console.log(Object.keys(globalThis).sort().join(), described('__ITER'));
}
