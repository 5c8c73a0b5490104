// Goal: a relation by an array, a set or a dictionary's keys is the same from both
// sides, whatever happened. Method: random histories of courses and students (inserts, changes with
// and without reading, deletions on either side, undo) against a naive model of plain arrays.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A relation to many")
struct RelationTests {
  struct Student: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var age = 0
    var courses: Many<Course> { many(\.students) }
    var graded: Many<Course> { many(\.grades) }
    var visited: Many<Course> { many(\.guests) }
    static let schema = ModelSchema<Student>("students")
  }

  struct Course: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    /// In order, and one may be in it twice.
    var students: [Student.ID] = []
    var grades: [Student.ID: Int] = [:]
    var guests: Set<Student.ID> = []
    var level = 0
    static let schema = ModelSchema<Course>("courses") {
      Property(\.students).onDelete(.nullify)
      Property(\.grades).onDelete(.nullify)
      Property(\.guests).onDelete(.nullify)
      Index(\.level)
    }
  }

  /// Both sides, kept by hand.
  private struct World: Equatable {
    var students: [Int: Student] = [:]
    var courses: [Int: Course] = [:]

    mutating func delete(student: Int) {
      students[student] = nil
      for course in courses.keys {
        courses[course]?.students.removeAll { $0.key == student }
        courses[course]?.grades[Student.ID(student)] = nil
        courses[course]?.guests.remove(Student.ID(student))
      }
    }
  }

  @Test("is the same from both sides", arguments: SeededGenerator.seeds(1, 2, 3))
  func random(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    try withDatabase { database in
      try database.register(Student.self, Course.self)
      var worlds: [SequenceNumber: World] = [:]
      var world = World()
      for step in 1...400 {
        let before = (try database.head, world)
        try Self.step(database, &world, &random)
        if try database.head == before.0.next, random.chance(oneIn: 6) {
          try database.undoLast()
          world = before.1
        }
        worlds[try database.head] = world
        if step % 25 == 0 {
          try Self.check(try database.snapshot(), world, seed)
        }
      }
      for (sequence, world) in worlds where random.chance(oneIn: 40) {
        try Self.check(try database.snapshot(at: .sequence(sequence)), world, seed)
      }
    }
  }

  private static func step(
    _ database: Database, _ world: inout World, _ random: inout FormatRandom
  ) throws {
    let (student, course) = (random.below(12), random.below(8))
    if world.students[student] == nil {
      world.students[student] = Student(id: .init(student), age: random.below(5))
      try database.insert(world.students[student] ?? Student())
    } else if var changed = world.courses[course] {
      try change(database, &changed, .init(student), &random)
      world.courses[course] = changed
      if random.chance(oneIn: 8) {
        try database.delete(Student.ID(student))
        world.delete(student: student)
      } else if random.chance(oneIn: 15) {
        try database.delete(Course.ID(course))
        world.courses[course] = nil
      }
    } else {
      world.courses[course] = Course(
        id: .init(course), students: [.init(student)], grades: [.init(student): 1], level: 1)
      try database.insert(world.courses[course] ?? Course())
    }
  }

  /// Changes a course in the database and beside it.
  private static func change(
    _ database: Database, _ course: inout Course, _ student: Student.ID,
    _ random: inout FormatRandom
  ) throws {
    let (id, place) = (course.id, random.below(course.students.count + 1))
    var made = course
    made.grades[student] = random.chance(oneIn: 3) ? nil : random.below(5)
    made.level = random.below(3)
    if random.chance(oneIn: 2) { made.guests.formSymmetricDifference([student]) }
    switch random.below(6) {
    case 0:
      try database.write { tx in try tx.append(student, to: id, \.students) }
      course.students.append(student)
    case 1:
      try database.write { tx in try tx.insert(student, at: place, into: id, \.students) }
      course.students.insert(student, at: place)
    case 2 where place < course.students.count:
      try database.write { tx in try tx.removeElement(at: place, from: id, \.students) }
      course.students.remove(at: place)
    case 3:
      try database.write { tx in _ = try tx.removeAll(student, from: id, \.students) }
      course.students.removeAll { $0 == student }
    default:
      if random.chance(oneIn: 3) { made.students.reverse() }
      try database.update(id) { $0 = made }
      course = made
    }
  }

  /// Everything that can be asked, against the arrays.
  private static func check(_ snapshot: Snapshot, _ world: World, _ seed: UInt64) throws {
    let comment = Comment("seed \(seed), \(snapshot.sequence)")
    let (courses, students) = (world.courses.values, world.students.values)
    #expect(
      try Set(snapshot.all(Student.self).fetch().map(\.id)) == Set(students.map(\.id)), comment)
    for course in courses {
      #expect(try snapshot.get(course.id) == course, comment)
      let old = try snapshot.query(Course.self).where {
        $0.id == course.id
        $0.students.any { $0.age > 2 }
      }.exists()
      #expect(old == course.students.contains { world.students[$0.key]?.age ?? 0 > 2 }, comment)
    }
    for student in students {
      let attended = courses.filter { $0.students.contains(student.id) }.map(\.id)
      #expect(try Set(snapshot.related(student.courses).ids()) == Set(attended), comment)
      #expect(try snapshot.related(student.courses).count() == attended.count, comment)
      let graded = courses.filter { $0.grades[student.id] != nil }.map(\.id)
      #expect(try Set(snapshot.related(student.graded).ids()) == Set(graded), comment)
      let visited = courses.filter { $0.guests.contains(student.id) }.map(\.id)
      #expect(try Set(snapshot.related(student.visited).ids()) == Set(visited), comment)
      let contained = snapshot.query(Course.self).where { $0.students.contains(student.id) }
      #expect(try contained.count() == attended.count, comment)
      let keyed = snapshot.query(Course.self).where { $0.grades.hasKey(student.id) }
      #expect(try keyed.count() == graded.count, comment)
    }
    try checkConditions(snapshot, world, comment)
  }

  private static func checkConditions(
    _ snapshot: Snapshot, _ world: World, _ comment: Comment
  ) throws {
    func students(_ holds: ([Course]) -> Bool) -> Set<Student.ID> {
      Set(
        world.students.values.map(\.id).filter { id in
          holds(world.courses.values.filter { $0.students.contains(id) })
        })
    }
    let all = snapshot.query(Student.self)
    #expect(
      try Set(all.where { $0.courses.any { $0.level == 2 } }.ids())
        == students { $0.contains { $0.level == 2 } }, comment)
    #expect(
      try Set(all.where { $0.courses.all { $0.level > 0 } }.ids())
        == students { $0.allSatisfy { $0.level > 0 } }, comment)
    #expect(
      try Set(all.where { $0.courses.none { $0.level == 1 } }.ids())
        == students { !$0.contains { $0.level == 1 } }, comment)
    #expect(try Set(all.where { $0.courses.isEmpty }.ids()) == students(\.isEmpty), comment)
    let none = snapshot.query(Course.self).where { $0.students.none { $0.age < 3 } }
    let expected = world.courses.values.filter { course in
      !course.students.contains { world.students[$0.key]?.age ?? 9 < 3 }
    }
    #expect(try Set(none.ids()) == Set(expected.map(\.id)), comment)
  }
}
