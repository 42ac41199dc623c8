function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

export default function () {
  for (const [name, values] of [['nothing', []], ['text', ['x', 1]], ['number', [5]], ['null', [null]], ['no delay', [() => console.log('ran no delay')]], ['negative', [() => console.log('ran negative'), -5]], ['text delay', [() => console.log('ran text'), '5']], ['odd delay', [() => console.log('ran odd'), 'x']], ['null delay', [() => console.log('ran null'), null]], ['arguments', [(...all) => console.log('ran', all.join()), 30, 1, 'b']]]) {
    attempt(name, () => typeof setTimeout(...values));
  }
  for (const id of [undefined, null, 0, -1, 999, 'x', {}]) attempt('clear ' + id, () => clearTimeout(id));
  attempt('interval', () => { let n = 0; const id = setInterval(() => { n += 1; console.log('tick', n); if (n === 2) clearInterval(id); }, 40); return typeof id; });
}
