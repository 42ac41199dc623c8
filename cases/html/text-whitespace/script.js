import { parseHTML } from 'k6/html';
const doc = parseHTML('<p>  a\n  <b> b </b>\tc</p><p>d<br>e</p><pre>\n\nx</pre><style>s{}</style><noscript>n<i>o</i></noscript><template>t<b>u</b></template><title>late</title>');
export default function () {
  for (const selector of ['p', 'pre', 'style', 'noscript', 'template', 'title', 'noscript i', 'template b']) console.log(selector, JSON.stringify(doc.find(selector).text()));
}
