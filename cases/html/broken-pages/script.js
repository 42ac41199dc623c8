import { parseHTML } from 'k6/html';
export default function () {
  for (const page of ['<p>1<p>2<div>3', '<b>1<i>2</b>3</i>', '<table><tr><td>1<td>2<tr><td>3</table>', '<table>out<tr><td>in</table>', '<ul><li>1<li>2</ul>', '<a href=1>x<a href=2>y', '</p></div>text', '<select><option>1<option>2', '<div', '<p class=x id="unclosed>text', '<!-- open <p>x', '<p/>after', '<br></br>', '<form><form><input></form></form>', 'text<body class=late>more', '<frameset><frame></frameset>', '<svg><foreignObject><p>x</p></foreignObject><Path/></svg>', '\u0000<p>\u0000</p>']) {
    const doc = parseHTML(page);
    console.log(JSON.stringify(doc.find('body').html()), doc.find('*').size());
  }
}
