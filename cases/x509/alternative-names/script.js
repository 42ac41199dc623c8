import x509 from 'k6/crypto/x509';
const pem = open('full.pem');
export default function () {
  console.log(JSON.stringify(x509.getAltNames(pem)), JSON.stringify(x509.parse(pem).altNames));
  console.log(JSON.stringify(x509.getAltNames(open === undefined ? '' : pem)) === JSON.stringify(x509.getAltNames(pem)));
}
