// The tuples of the benchmark, 0 to 9999. The seed and the load both use them, so every
// check concerns a tuple that was written.
export const COUNT = 10000;

// User i is a member of group i, which may view folder i, which contains document i.
export function tuplesOf(i) {
  return [
    tuple('group', `mygroup${i}`, 'member', 'user', `myuser${i}`),
    tuple('doc', `mydoc${i}`, 'parent', 'folder', `myfolder${i}`),
    tuple('folder', `myfolder${i}`, 'viewer', 'group', `mygroup${i}`, 'member'),
  ];
}

// Whether a user may view document i: user i may, the one after may not.
export function question(i, allowed) {
  const user = allowed ? i : (i + 1) % COUNT;
  return tuple('doc', `mydoc${i}`, 'viewer', 'user', `myuser${user}`);
}

function tuple(objectType, objectId, objectRelation, subjectType, subjectId, subjectRelation = '') {
  return { objectType, objectId, objectRelation, subjectType, subjectId, subjectRelation };
}
