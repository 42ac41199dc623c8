import { parseHTML } from 'k6/html';
const doc = parseHTML('<div><h2>0</h2><p>1</p><p>2</p><i>3</i><p>4</p><p>5</p></div><div><p>6</p></div>');
export default function () {
  for (const selector of ['p:first-child', 'p:last-child', 'p:only-child', 'p:nth-child(3)', 'p:nth-child(2n+1)', 'p:nth-child(-n+3)', 'p:nth-child(even)', 'p:nth-last-child(2)', 'p:first-of-type', 'p:last-of-type', 'p:only-of-type', 'p:nth-of-type(2)', 'p:nth-of-type(3n)', 'p:nth-last-of-type(1)', ':root', 'p:nth-child(0)', 'p:nth-child(n)', 'p:nth-child( 2n + 1 )', 'p:nth-child(x)']) {
    console.log(selector, doc.find(selector).map((i, e) => e.text().slice(0, 1)).join(''));
  }
}
