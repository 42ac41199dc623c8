import http from 'k6/http';
class Own { constructor() { this.a = 1; } get b() { return 2; } toString() { return 'text'; } }
export default function () {
  for (const body of [new Own(), new Map([['a', 1]]), new Set([1]), () => 1, /x/, Symbol('s'), 10n]) {
    try { console.log(JSON.stringify(http.post(`${__ENV.BASE}/echo`, body).json('body'))); } catch (e) { console.log('threw', e.name); }
  }
}
