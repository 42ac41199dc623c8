import { parseHTML } from 'k6/html';
const links = ['http://h', 'https://h:443/', 'http://h:80/x', 'https://u@h/', 'https://u:@h/', 'HTTP://HOST/Path', 'http://h?q', 'http://h#f', 'http://h/?#', 'ftp://f:21/a', 'javascript:void(0)', 'tel:1', '?q=1', '#f', '//h/p', 'x', '../y', 'http://é/ü', 'http://h/a b', 'http://h:8080', 'http://1.2.3.4:5/', ' http://h/ ', 'data:text/plain,x', 'http:/h', 'http://'];
export default function () {
  for (const link of links) {
    const a = parseHTML(`<a href="${link}">x</a>`).find('a').get(0);
    console.log(JSON.stringify([link, a.href(), a.protocol(), a.host(), a.hostname(), a.port(), a.pathname(), a.search(), a.hash(), a.origin(), a.username(), a.password()]));
  }
}
