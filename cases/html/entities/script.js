import { parseHTML } from 'k6/html';
const doc = parseHTML('<p title="&lt;&copy;&copycat;&amp;amp;&#233;&#xE9;&#0;&notit;">&lt;&copy &#233;&#xE9; &bogus; &amp;lt; &hellip;&NotEqualTilde; &#128512; &#x80; &</p>');
export default function () {
  console.log(JSON.stringify(doc.find('p').text()), JSON.stringify(doc.find('p').attr('title')));
}
