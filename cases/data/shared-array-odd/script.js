import { SharedArray } from 'k6/data';
function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

const made = new SharedArray('made', () => [{ a: 1, list: [1, 2] }, 'text', 5, null, true]);
attempt('same name', () => new SharedArray('made', () => [9]).length);
attempt('no array', () => new SharedArray('b', () => ({})));
attempt('no function', () => new SharedArray('c', [1]));
attempt('no name', () => new SharedArray('', () => [1]));
attempt('throws', () => new SharedArray('d', () => { throw new RangeError('x'); }));
attempt('async', () => new SharedArray('e', async () => [1]));
attempt('without new', () => SharedArray('f', () => [1]));
export default function () {
  console.log(made.length, JSON.stringify(made), Array.isArray(made), typeof made);
  attempt('read', () => made[0].list[1]);
  attempt('outside', () => made[9]);
  attempt('negative', () => made[-1]);
  attempt('write', () => { made[0] = 1; return made[0].a; });
  attempt('write inside', () => { made[0].a = 2; return made[0].a; });
  attempt('push', () => made.push(1));
  attempt('delete', () => { delete made[0]; return made.length; });
  attempt('length', () => { made.length = 0; return made.length; });
  attempt('map', () => made.map((x) => typeof x).join());
  attempt('spread', () => [...made].length);
  attempt('slice', () => made.slice(1, 3).join());
  attempt('find', () => made.find((x) => x === 5));
  attempt('keys', () => Object.keys(made).join());
  attempt('in', () => [0 in made, 9 in made].join());
  attempt('json', () => JSON.stringify(made[0]));
  attempt('destructure', () => { const [first, ...rest] = made; return rest.length; });
  attempt('for in', () => { let all = ''; for (const i in made) all += i; return all; });
}
