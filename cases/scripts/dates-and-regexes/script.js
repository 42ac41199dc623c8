export default function () {
  const d = new Date(Date.UTC(2024, 1, 29, 13, 5, 9));
  console.log(d.toISOString(), d.getUTCDay(), new Date('2024-03-01T00:00:00Z') - d, Date.UTC(2000, 0), JSON.stringify({ d }), new Date(NaN).getTime());
  console.log('2024-02-29'.replace(/(?<y>\d+)-(?<m>\d+)-(?<d>\d+)/, '$<d>.$<m>.$<y>'), [...'a1b22'.matchAll(/\d+/g)].map((m) => m[0] + '@' + m.index).join(), /\p{Lu}/u.test('É'), 'aBc'.replace(/b/i, (m) => m + m), 'x'.match(/y/));
  console.log((1234.5678).toFixed(2), (0.000001234).toString(), (255).toString(16), Number('0x1f'), parseInt('12px'), (1e21 + 1).toString(), (25).toString(36), (1.005).toPrecision(3), Math.round(-0.5), 5 % -3, -5 % 3);
}
