export default function () {
  console.log(JSON.stringify({ a: undefined, b: null, c: NaN, d: [undefined, () => 1], e: new Date(0), f: { toJSON: () => 'own' } }));
  console.log(JSON.stringify({ b: 1, a: { c: [1, 2] } }, null, 1).replace(/\n/g, '|'), JSON.stringify([1, { a: 2, b: 3 }], ['b']), JSON.stringify('\u2028</script>\ud800'));
  console.log(JSON.parse('{"a":[1,2],"d":"1970-01-01"}', (k, v) => (k === 'd' ? 'date' : v)).d, JSON.parse('"\\u00e9"'), JSON.parse(' [ ] ').length);
  for (const text of ['', '{', "{'a':1}", '[1,]', 'undefined', '01', '"\t"']) { try { console.log(JSON.parse(text)); } catch (e) { console.log(text, e.name); } }
}
