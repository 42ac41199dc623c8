export const options = { hosts: { 'a.example': '1.2.3.4', 'b.example:443': '1.2.3.4:8443', '*.c.example': '5.6.7.8', 'd.example': '::1' } };
export default function () {}
