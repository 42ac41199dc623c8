import { SharedArray } from 'k6/data';
import data from 'k6/data';

function observe(name, body) {
  try {
    const value = body();
    console.log(name + ' => ' + typeof value + ' ' + JSON.stringify(value));
  } catch (e) {
    console.log(name + ' threw ' + e.message);
  }
}

let calls = 0;
const mixed = new SharedArray('mixed', () => {
  calls++;
  return [{ x: 1, y: [1, { z: 2 }] }, 's', 3, null, true, [1, 2], new Date(0), NaN];
});
const numbers = new SharedArray('numbers', function () {
  return [1, 2, 3, 4, 5];
});
observe('same name', () => {
  const other = new SharedArray('mixed', () => [9]);
  return [other.length, other[0]];
});
observe('empty name', () => new SharedArray('', () => []));
observe('no function', () => new SharedArray('a'));
observe('no array', () => new SharedArray('b', () => ({})));
observe('a string', () => new SharedArray('c', () => 'abc'));
observe('async', () => new SharedArray('d', async () => []));
observe('throws', () => new SharedArray('e', () => { throw new Error('inner'); }));
observe('without new', () => SharedArray('f', () => [1]));
observe('number as name', () => new SharedArray(5, () => [1]).length);
observe('nothing', () => new SharedArray());
observe('typed array', () => new SharedArray('g', () => new Uint8Array(2)).length);
observe('empty', () => {
  const empty = new SharedArray('h', () => []);
  return [empty.length, empty[0], JSON.stringify(empty)];
});

export default function () {
  observe('calls', () => calls);
  observe('length', () => mixed.length);
  observe('all', () => [...mixed]);
  observe('0', () => mixed[0]);
  observe('-1', () => mixed[-1]);
  observe('100', () => mixed[100]);
  observe('"0"', () => mixed['0']);
  observe('1.5', () => mixed[1.5]);
  observe('foo', () => mixed.foo);
  observe('frozen', () => [mixed[0], mixed[0].y, mixed[0].y[1]].map(Object.isFrozen));
  observe('write index', () => { mixed[0] = 2; });
  observe('push', () => mixed.push(1));
  observe('pop', () => numbers.pop());
  observe('length = 0', () => { mixed.length = 0; });
  observe('delete', () => { delete mixed[0]; });
  observe('sort', () => numbers.sort((a, b) => b - a));
  observe('reverse', () => numbers.reverse());
  observe('splice', () => numbers.splice(0, 1));
  observe('fill', () => numbers.fill(0));
  observe('shift', () => numbers.shift());
  observe('unshift', () => numbers.unshift(1));
  observe('defineProperty', () => Object.defineProperty(mixed, '0', { value: 1 }));
  observe('map', () => numbers.map((x) => x * 2));
  observe('filter', () => numbers.filter((x) => x > 2));
  observe('reduce', () => numbers.reduce((a, b) => a + b));
  observe('forEach', () => {
    let seen = '';
    numbers.forEach((x, i, all) => { seen += `${i}:${x}${all === numbers} `; });
    return seen;
  });
  observe('slice', () => numbers.slice(1, 3));
  observe('concat', () => numbers.concat([9]));
  observe('concatenated', () => [0].concat(numbers));
  observe('indexOf', () => numbers.indexOf(3));
  observe('lastIndexOf', () => numbers.lastIndexOf(5));
  observe('includes', () => numbers.includes(3));
  observe('find', () => numbers.find((x) => x > 3));
  observe('findIndex', () => numbers.findIndex((x) => x > 3));
  observe('some', () => numbers.some((x) => x > 3));
  observe('every', () => numbers.every((x) => x > 3));
  observe('join', () => numbers.join('-'));
  observe('at', () => numbers.at(-1));
  observe('flatMap', () => numbers.flatMap((x) => [x, x]));
  observe('entries', () => [...numbers.entries()]);
  observe('keys', () => [...numbers.keys()]);
  observe('values', () => [...numbers.values()]);
  observe('destructured', () => { const [first, ...rest] = numbers; return [first, rest]; });
  observe('for of', () => { let sum = 0; for (const x of numbers) sum += x; return sum; });
  observe('for in', () => { const keys = []; for (const key in numbers) keys.push(key); return keys; });
  observe('Object.keys', () => Object.keys(numbers));
  observe('Object.entries', () => Object.entries(numbers));
  observe('getOwnPropertyNames', () => Object.getOwnPropertyNames(numbers));
  observe('Array.isArray', () => Array.isArray(numbers));
  observe('instanceof Array', () => numbers instanceof Array);
  observe('toString', () => Object.prototype.toString.call(numbers));
  observe('String', () => String(numbers));
  observe('JSON', () => JSON.stringify(numbers));
  observe('in', () => [0 in numbers, 9 in numbers, 'length' in numbers, 'map' in numbers]);
  observe('descriptor', () => Object.getOwnPropertyDescriptor(numbers, '0'));
  observe('descriptor of length', () => Object.getOwnPropertyDescriptor(numbers, 'length'));
  observe('Array.from', () => Array.from(numbers));
  observe('Object.assign', () => Object.assign([], numbers));
  observe('isFrozen', () => [Object.isFrozen(numbers), Object.isExtensible(numbers)]);
  observe('new here', () => new SharedArray('z', () => [1]));
  observe('names', () => Object.keys(data));
  console.log(numbers);
  console.log(mixed[0], numbers[1]);
}
