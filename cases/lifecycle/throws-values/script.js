export const options = { iterations: 6, vus: 1 };
class Own extends Error { constructor(m) { super(m); this.name = 'Own'; } }
export default function () {
  switch (__ITER) {
    case 0: throw 'text';
    case 1: throw 12;
    case 2: throw { code: 7 };
    case 3: throw null;
    case 4: throw undefined;
    case 5: throw new Own('mine');
  }
}
