import x509 from 'k6/crypto/x509';
export default function () {
  for (const name of ['parse', 'getAltNames', 'getIssuer', 'getSubject']) {
    for (const value of ['', 'text', '-----BEGIN CERTIFICATE-----', '-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydA==\n-----END CERTIFICATE-----', null, undefined, 5, {}, []]) {
      try { x509[name](value); console.log(name, JSON.stringify(value), 'read'); } catch (e) { console.log(name, JSON.stringify(value), 'threw', e.name); }
    }
  }
}
