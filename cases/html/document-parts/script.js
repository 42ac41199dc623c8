import { parseHTML } from 'k6/html';
const doc = parseHTML('<!DOCTYPE html><!-- first --><html lang=en><head><meta charset=utf-8><title>T</title></head><body class=b>x</body></html><!-- last -->');
export default function () {
  console.log(doc.size(), doc.get(0).nodeName(), doc.get(0).nodeType(), doc.children().map((i, e) => e.get(0).nodeName()).join(), doc.contents().map((i, e) => e.get(0).nodeName()).join());
  console.log(doc.find('html').attr('lang'), doc.find('head').children().size(), doc.find('body').attr('class'), doc.find('meta').attr('charset'));
  console.log(doc.html());
}
