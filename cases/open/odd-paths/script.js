function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

attempt('plain', () => open('./a.txt'));
attempt('without dot', () => open('a.txt'));
attempt('twice', () => open('.//a.txt'));
attempt('up and down', () => open('../odd-paths/a.txt').length);
attempt('file url', () => open(import.meta.resolve('./a.txt')));
attempt('empty', () => open(''));
attempt('none', () => open());
attempt('null', () => open(null));
attempt('number', () => open(5));
attempt('folder', () => open('.'));
attempt('missing', () => open('./none.txt'));
attempt('slash', () => open('./a.txt/'));
attempt('binary', () => new Uint8Array(open('./a.txt', 'b')).join());
attempt('unknown mode', () => open('./a.txt', 'x'));
attempt('mode r', () => open('./a.txt', 'r'));
attempt('space', () => open('./a b.txt'));
attempt('percent', () => open('./a%20b.txt'));
export default function () { attempt('in the iteration', () => open('./a.txt')); }
