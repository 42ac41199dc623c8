export default function () {
  for (const name of ['fetch', 'URL', 'Buffer', 'process', 'atob', 'btoa', 'window', 'global', 'globalThis', 'setTimeout', 'setInterval', 'clearTimeout', 'crypto', 'require', 'open', 'console', '__ENV', '__VU', '__ITER']) {
    console.log(name, typeof globalThis[name]);
  }
}
