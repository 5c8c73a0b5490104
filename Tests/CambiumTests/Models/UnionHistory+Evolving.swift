// The random changes of an enum's form, for RandomUnionMigrationTests.

import Simulation

@testable import Cambium

extension UnionHistory {
  private func freshName(_ letter: String = "p") -> String {
    defer { nameCount += 1 }
    return "\(letter)\(nameCount)"
  }

  func newCase(_ kind: Int) -> MorphForm.Case {
    var new = MorphForm.Case(kind: kind, name: freshName("t"), slots: [])
    for index in [0, 3] { new.slots.append(newSlot(index, in: new)) }
    new.used = Set(new.slots.map(\.name))
    return new
  }

  /// A property of a name that is new, or that another case has.
  private func newSlot(_ index: Int, in own: MorphForm.Case) -> Slot {
    let shared = form.cases.filter { $0.kind != own.kind }.flatMap(\.slots).filter { slot in
      slot.isInt == (index < 3) && !slot.isLazy && !slot.isStep
        && !convertedNames.contains(slot.name) && !own.used.contains(slot.name)
        && !own.slots.contains { $0.name == slot.name }
    }
    let name = shared.isEmpty || random.below(2) == 0 ? freshName() : pick(shared).name
    return Slot(index: index, name: name)
  }

  /// Changes the form in some way.
  func evolve() {
    let index = random.below(form.cases.count)
    switch random.below(10) {
    case 0 where form.cases[index].formerNames.isEmpty:
      form.cases[index].formerNames = [form.cases[index].name]
      form.cases[index].name = freshName("t")
    case 1:
      let free = (0..<4).filter { kind in !form.cases.contains { $0.kind == kind } }
      if let kind = free.first { form.cases.append(newCase(kind)) }
    case 2: dropCase(index)
    case 3 where form.cases.count > 1 && form.move == nil:
      let others = form.cases.filter { $0.kind != form.cases[index].kind }
      form.move = (form.cases[index], pick(others))
    case 4: renameShared()
    default:
      // The step that moves records knows the properties as they are.
      if form.move != nil || !form.removals.isEmpty { return }
      var own = form.cases[index]
      evolve(&own)
      form.cases[index] = own
    }
  }

  private func dropCase(_ index: Int) {
    guard form.cases.count > 1, form.move == nil, form.removals.isEmpty else { return }
    let gone = form.cases.remove(at: index)
    let outcome: MorphForm.Outcome =
      switch random.below(3) {
      case 0: .refused
      case 1: .deleted
      default: .converted(pick(form.cases))
      }
    for name in [gone.name] + gone.formerNames {
      form.removals.append(MorphForm.Removal(name: name, outcome: outcome))
    }
  }

  /// Renames a property in all cases that have it.
  private func renameShared() {
    if form.move != nil || !form.removals.isEmpty { return }
    let all = form.cases.flatMap(\.slots).filter { !$0.isLazy && !$0.isStep }
    guard !all.isEmpty else { return }
    let (old, new) = (pick(all).name, freshName())
    for own in form.cases.indices {
      for slot in form.cases[own].slots.indices {
        let found = form.cases[own].slots[slot]
        guard found.name == old, !found.isLazy, !found.isStep else { continue }
        form.cases[own].slots[slot].was = .renamed(old)
        form.cases[own].slots[slot].name = new
        form.cases[own].used.insert(new)
      }
    }
  }

  private func evolve(_ own: inout MorphForm.Case) {
    // A property that is still read from older records is left alone until it is migrated.
    let settled = own.slots.indices.filter { !own.slots[$0].isLazy && !own.slots[$0].isStep }
    guard !settled.isEmpty else { return }
    let picked = pick(settled)
    let old = own.slots[picked]
    defer { own.used.formUnion(own.slots.map(\.name)) }
    func free(_ range: Range<Int>) -> Int? {
      range.first { index in !own.slots.contains { $0.index == index } }
    }
    switch random.below(7) {
    case 0, 1:
      if let index = free(random.below(2) == 0 ? 0..<3 : 3..<7) {
        own.slots.append(newSlot(index, in: own))
      }
    case 2 where own.slots.count > 2:
      if random.below(2) == 0 { own.removed.append(old.name) }
      own.slots.remove(at: picked)
    case 3:
      own.slots[picked].was = .renamed(old.name)
      own.slots[picked].name = freshName()
    case 4, 5:
      guard let index = free(old.isInt ? 3..<7 : 0..<3) else { return }
      own.slots[picked].index = index
      // Others may have the name, for values of the kind that it was.
      let isShared = form.cases.contains { $0.kind != own.kind && $0.used.contains(old.name) }
      if !isShared, random.below(2) == 0, convertedNames.insert(old.name).inserted {
        own.slots[picked].was = .converted(old.name)
        return
      }
      own.slots[picked].was = random.below(2) == 0 ? .converted(old.name) : .stepped(old.name)
      own.slots[picked].name = freshName()
    default:
      let texts = settled.filter { !own.slots[$0].isInt }
      guard texts.count > 1 else { return }
      let (one, other) = (own.slots[texts[0]], own.slots[texts[1]])
      let isLazy = random.below(2) == 0
      own.slots[texts[0]] = Slot(
        index: one.index, name: freshName(),
        was: isLazy ? .joined(one.name, other.name) : .merged(one.name, other.name))
      own.slots.remove(at: texts[1])
    }
  }
}
