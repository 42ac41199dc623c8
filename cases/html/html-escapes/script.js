import { parseHTML } from 'k6/html';
const doc = parseHTML('<p>a &lt; b &amp; c &gt; d &nbsp; "q" \'s\' &eacute; <br> <input value="x&quot;y<z" checked></p><p>second</p><script>if (a < b && c) {}</script><textarea>a < b</textarea>');
export default function () {
  console.log(doc.find('p').html());
  console.log(doc.find('script').html(), doc.find('textarea').html(), doc.find('br').html() === '');
  console.log(doc.find('input').attr('value'), JSON.stringify(doc.find('p').first().text()));
}
