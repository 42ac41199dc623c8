export const options = { hosts: { 'a.example': 'b.example' } };
export default function () {}
