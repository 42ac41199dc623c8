import x509 from 'k6/crypto/x509';
const pem = open('bare.pem');
export default function () {
  console.log(JSON.stringify(x509.getSubject(pem)), JSON.stringify(x509.getIssuer(pem)), JSON.stringify(x509.getAltNames(pem)));
  const { notBefore, notAfter, signatureAlgorithm, fingerPrint } = x509.parse(pem);
  console.log(notBefore, notAfter, signatureAlgorithm, fingerPrint.length);
}
