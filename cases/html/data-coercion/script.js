import { parseHTML } from 'k6/html';
const values = ['1', '1.0', '01', '.5', '5.', '0x10', '1e5', '-0', '+1', ' 1', '1 ', 'Infinity', 'NaN', 'true', 'True', 'false', 'null', 'undefined', '[]', '{}', '[1,"a",null]', '{"a":{"b":1}}', "{'a':1}", '"text"', '{broken', ' {"a":1}', '9007199254740993', '1e400', '--', ''];
export default function () {
  for (const value of values) {
    const found = parseHTML(`<p data-v='${value.replace(/'/g, '&#39;')}'>`).find('p').data('v');
    console.log(JSON.stringify(value), typeof found, JSON.stringify(found));
  }
}
