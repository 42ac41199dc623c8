import { parseHTML } from 'k6/html';
const doc = parseHTML('<a id=1 href="/a/b.png" lang=en-GB rel="x y">1</a><a id=2 href="http://x/?q=\'1\'" lang=en>2</a><a id=3 lang=enx data-q="a]b" rel=X>3</a><a id=4 href="">4</a>');
export default function () {
  for (const selector of ['[href]', 'a[href]', '[href=""]', '[href^="/a"]', '[href$=".png"]', '[href*="b"]', '[rel~=x]', '[lang|=en]', '[lang!=en]', '[data-q="a]b"]', '[REL=x]', '[rel=X]', '[rel=x i]', '[href^=""]', '[href=\'/a/b.png\']', '[href="http://x/?q=\'1\'"]', '[id=1]', '[id="1"]', 'a[href][lang=en]', '[href#="^/a"]', 'a:not([href])', '[ href ]', '[href = ""]']) {
    console.log(selector, doc.find(selector).filter('a').map((i, e) => e.attr('id')).join(''));
  }
}
