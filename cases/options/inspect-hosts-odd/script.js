export const options = { hosts: { 'a.test': '1.2.3.4', 'b.test:80': '1.2.3.4:8080', '*.c.test': '::1' } };
export default function () {}
