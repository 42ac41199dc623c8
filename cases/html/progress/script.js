import { parseHTML } from 'k6/html';
const values = [null, '0', '1', '3.7', '-2', '1e1', 'abc', ' 2 ', 'Infinity', 'NaN', '0x2'];
export default function () {
  for (const value of values) {
    for (const max of values) {
      const written = (name, text) => (text === null ? '' : `${name}="${text}"`);
      const bar = parseHTML(`<progress ${written('value', value)} ${written('max', max)}>`).find('progress').get(0);
      console.log(value, max, String(bar.value()), String(bar.max()), String(bar.position()));
    }
  }
}
