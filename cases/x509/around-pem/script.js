import { getSubject } from 'k6/crypto/x509';
const pem = open('ed.pem');
export default function () {
  for (const [name, text] of [['before', 'some text\n' + pem], ['after', pem + '\nsome text'], ['crlf', pem.replace(/\n/g, '\r\n')], ['indented', '  ' + pem], ['joined', pem.replace(/\n/g, '')], ['lower', pem.toLowerCase()]]) {
    try { console.log(name, getSubject(text).commonName); } catch (e) { console.log(name, 'threw', e.name); }
  }
}
